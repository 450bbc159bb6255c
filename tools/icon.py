"""The icon of the site and of the browser lessons."""

from urllib.parse import quote

# two paths that meet, as in lesson 4; without an icon a browser asks the host for one, and gets a 404
ICON = "data:image/svg+xml," + quote(
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><path d="M13 8 8 3 3 8l5 5z" fill="none" stroke="#0b6bb5" '
    'stroke-width="1.6"/><circle cx="13" cy="8" r="2.4" fill="#d55e00"/><circle cx="3" cy="8" r="2.4" fill="#1a7f37"/></svg>'
)
