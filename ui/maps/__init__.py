"""Pictures of panels: the map of each panel with all layers, on the screen, in SVG files and in the legend."""
