"""The jobs: tables read, methods compared, clusters, maps, reports, predictions served, and the command."""
