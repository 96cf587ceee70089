"""Images on their way to the model: known by content, held to the limits of endpoints, scaled where that can be."""
