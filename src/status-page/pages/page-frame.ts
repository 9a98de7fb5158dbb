/** The frame of every page: head, header, main, footer; no script or style stands in it. */
import { type Html, html, type Shown } from '../html.ts';

/** What is different on each page. */
export interface PageContent {
  readonly title: string;
  readonly body: Shown;
}

/**
 * A whole document.
 * @param root the way to the top: empty or `../../`; relative, so that a proxy may serve it all below a path.
 */
export function layout({ title, body }: PageContent, root: string, version: string): Html {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>${title}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<link rel="icon" href="${root}icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="${root}page.css">
<script src="${root}page.js" defer></script>
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<header class="top"><a class="brand" href="${root || './'}">${MARK}<span>daywalk</span></a></header>
<main id="content">
${body}
</main>
<footer>
<span>daywalk ${version}</span>
<nav aria-label="For programs"><a href="${root}status.json">status.json</a><a href="${root}metrics">metrics</a><a href="${root}healthz">healthz</a></nav>
</footer>
</body>
</html>
`;
}

const MARK = html`<svg viewBox="0 0 22 22" width="22" height="22" aria-hidden="true"><g class="mark"><rect x="1" y="1" width="5.4" height="5.4" rx="1.4"/><rect x="8.3" y="1" width="5.4" height="5.4" rx="1.4"/><rect x="15.6" y="1" width="5.4" height="5.4" rx="1.4"/><rect x="1" y="8.3" width="5.4" height="5.4" rx="1.4"/><rect x="8.3" y="8.3" width="5.4" height="5.4" rx="1.4"/><circle cx="18.3" cy="11" r="1.3"/></g></svg>`;

/** The icon of the browser's tab, as a file of its own. */
export const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 22 22"><g fill="#2f8f6b"><rect x="1" y="4.6" width="5.4" height="5.4" rx="1.4"/><rect x="8.3" y="4.6" width="5.4" height="5.4" rx="1.4"/><rect x="15.6" y="4.6" width="5.4" height="5.4" rx="1.4"/><rect x="1" y="11.9" width="5.4" height="5.4" rx="1.4"/><rect x="8.3" y="11.9" width="5.4" height="5.4" rx="1.4"/><circle cx="18.3" cy="14.6" r="1.3"/></g></svg>`;
