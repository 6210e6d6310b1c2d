"""Arrays of other libraries, worked on where they are: on a GPU, or on the processor where dispatch is on."""
