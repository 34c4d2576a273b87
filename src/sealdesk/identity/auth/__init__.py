"""Log-in, access tokens, sessions, and the guards that check them."""
