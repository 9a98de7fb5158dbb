/** How a time is written, as people say it (`DD/Mon/YYYY:HH:MI:SS TZ`), as a pattern that makes ISO 8601 of it. */
import type { TimeFormat } from '../../model.ts';
import { Wrong } from '../problems.ts';

/** The parts of a time: how each looks, and where it goes in `YYYY-MM-DDTHH:MI:SS.FTZ`. */
const PARTS = [
  { word: 'YYYY', looks: '([0-9]{4})', goes: 'year' },
  { word: 'Mon', looks: '([A-Za-z]{3})', goes: 'month' },
  { word: 'MM', looks: '([0-9]{2})', goes: 'month' },
  { word: 'MI', looks: '([0-9]{2})', goes: 'minute' },
  { word: 'DD', looks: '([0-9]{2})', goes: 'day' },
  { word: 'HH', looks: '([0-9]{2})', goes: 'hour' },
  { word: 'SS', looks: '([0-9]{2})', goes: 'second' },
  { word: 'TZ', looks: '([Zz]|[+-][0-9]{2}:?[0-9]{2})', goes: 'zone' },
  { word: 'F', looks: '([0-9]+)', goes: 'fraction' },
] as const;
type Place = (typeof PARTS)[number]['goes'];

/** Reads a format; every part once, and no time without its date. */
export function parseTimeFormat(text: string): TimeFormat | Wrong {
  const at = new Map<Place, number>();
  let pattern = '';
  for (let rest = text; rest !== ''; ) {
    const part = PARTS.find(({ word }) => rest.startsWith(word));
    if (part === undefined) {
      if (/^[A-Za-z0-9]/.test(rest))
        return new Wrong(
          `holds ${JSON.stringify(rest.charAt(0))}, which is no part of a time; the parts are ${PARTS.map(({ word }) => word).join(', ')}`,
        );
      const [literal = ''] = rest;
      pattern += literal.replace(/[^ /:,]/u, '\\$&');
      rest = rest.slice(literal.length);
      continue;
    }
    if (at.has(part.goes)) return new Wrong(`says the ${part.goes} twice`);
    at.set(part.goes, at.size + 1);
    pattern += part.looks;
    rest = rest.slice(part.word.length);
  }
  for (const needed of ['year', 'month', 'day', 'hour', 'minute'] as const)
    if (!at.has(needed)) return new Wrong(`lacks the ${needed}, such as in YYYY-MM-DD HH:MI:SS`);
  if (at.has('fraction') && !at.has('second')) return new Wrong('has a fraction without a second');
  const put = (place: Place, before: string) =>
    at.has(place) ? `${before}\\${at.get(place)}` : '';
  const replacement = [
    put('year', ''),
    put('month', '-'),
    put('day', '-'),
    put('hour', 'T'),
    put('minute', ':'),
    put('second', ':'),
    put('fraction', '.'),
    put('zone', ''),
  ].join('');
  return { text, pattern: `^${pattern}$`, replacement };
}
