/** How a time is written, as people say it (`DD/Mon/YYYY:HH:MI:SS TZ`), as a pattern that makes ISO 8601 of it. */
import type { TimeFormat } from '../../model.ts';
import { Wrong } from '../problems.ts';

/** The parts of a time: how each looks, and where it goes in `YYYY-MM-DDTHH:MI:SS.FTZ`, behind what. */
const PARTS = [
  { word: 'YYYY', looks: '([0-9]{4})', goes: 'year', behind: '' },
  { word: 'Mon', looks: '([A-Za-z]{3})', goes: 'month', behind: '-' },
  { word: 'MM', looks: '([0-9]{2})', goes: 'month', behind: '-' },
  { word: 'DD', looks: '([0-9]{2})', goes: 'day', behind: '-' },
  { word: 'HH', looks: '([0-9]{2})', goes: 'hour', behind: 'T' },
  { word: 'MI', looks: '([0-9]{2})', goes: 'minute', behind: ':' },
  { word: 'SS', looks: '([0-9]{2})', goes: 'second', behind: ':' },
  { word: 'F', looks: '([0-9]+)', goes: 'fraction', behind: '.' },
  { word: 'TZ', looks: '([Zz]|[+-][0-9]{2}:?[0-9]{2})', goes: 'zone', behind: '' },
] as const;
type Part = (typeof PARTS)[number];
const WORDS = new RegExp(`${PARTS.map(({ word }) => word).join('|')}|.`, 'gsu');

/** Reads a format; every part once, and no time without its date. */
export function parseTimeFormat(text: string): TimeFormat | Wrong {
  const found: Part[] = [];
  const has = (place: Part['goes']) => found.some(({ goes }) => goes === place);
  let pattern = '';
  for (const [word] of text.matchAll(WORDS)) {
    const part = PARTS.find((one) => one.word === word);
    if (part === undefined) {
      if (/[A-Za-z0-9]/.test(word))
        return new Wrong(
          `holds "${word}", which is no part of a time; the parts are ${PARTS.map((one) => one.word).join(', ')}`,
        );
      pattern += word.replace(/[^ /:,]/u, '\\$&');
      continue;
    }
    if (has(part.goes)) return new Wrong(`says the ${part.goes} twice`);
    found.push(part);
    pattern += part.looks;
  }
  for (const needed of ['year', 'month', 'day', 'hour', 'minute'] as const)
    if (!has(needed)) return new Wrong(`lacks the ${needed}, such as in YYYY-MM-DD HH:MI:SS`);
  if (has('fraction') && !has('second')) return new Wrong('has a fraction without a second');
  const put = PARTS.filter((part) => found.includes(part));
  const replacement = put.map((part) => `${part.behind}\\${found.indexOf(part) + 1}`).join('');
  return { text, pattern: `^${pattern}$`, replacement };
}
