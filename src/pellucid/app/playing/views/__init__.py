"""How the stages of a fit are drawn: one view for each kind of method, chosen by what a model has."""
