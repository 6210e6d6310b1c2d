"""Linear machines: LinearSVC and LinearSVR, their solvers and workings."""
