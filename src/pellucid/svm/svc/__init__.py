"""SVC: classes separated pair by pair in the space of a kernel."""
