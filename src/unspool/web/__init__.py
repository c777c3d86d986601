"""What the app and the hub share: request checks, listening, forms, templates. Imports neither of them."""
