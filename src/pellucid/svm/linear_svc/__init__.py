"""LinearSVC: its solvers, proof and workings."""
