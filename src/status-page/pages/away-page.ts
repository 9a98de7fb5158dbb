/** The page for when the database is away: the worker lives and goes on trying, and this says so. */
import { oneLine } from '../../text.ts';
import type { Doing } from '../activity.ts';
import { type Html, html } from '../html.ts';
import { layout } from './page-frame.ts';
import { minute } from './wording.ts';

/** The page. @param why what the database, or the way to it, said. */
export function awayPage(version: string, root: string, why: string, doing: Doing): Html {
  return layout({
    title: 'The database is away · daywalk',
    root,
    version,
    again: 15,
    body: html`<div id="live"><section class="health late" aria-labelledby="health"><h1 id="health">The database is away, so there is nothing to show.</h1>
<p>${oneLine(why)}</p>
<p class="quiet">The worker has been running since ${minute(new Date(doing.startedAt))} UTC and goes on by itself when the database is back; nothing that was stored is lost.</p></section></div>`,
  });
}
