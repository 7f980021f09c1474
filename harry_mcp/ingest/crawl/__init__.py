"""Crawling a site: pure rules (robots, sitemaps, links, scope, what a page is worth), and a thin run around them."""
