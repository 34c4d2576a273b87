"""Public replies that wait some seconds before they leave, so that their authors can undo them."""
