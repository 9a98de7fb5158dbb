/** A proof in words: what shows that the walk saw the whole window. */
import type { Proof } from '../model.ts';
import { formatCount } from './format.ts';

/** The proof and its evidence, in sentences. */
export function describeProof(proof: Proof): string {
  return [`Proof by ${proof.kind}: ${kindText(proof)}.`, ...evidence(proof)].join(' ');
}

function kindText(proof: Proof): string {
  switch (proof.kind) {
    case 'total':
      return `the total was ${formatCount(proof.firstTotal)} on the first page and ${formatCount(proof.lastTotal)} on the last, and ${formatCount(proof.records)} records are stored`;
    case 'probe':
      return proof.records === 0
        ? 'the window was empty, and asked once more it was empty again'
        : `asked from ${formatCount(proof.start)} on, the source showed ${proof.start === proof.records ? 'nothing more' : 'exactly the last record stored and nothing behind it'}; ${formatCount(proof.records)} records are stored`;
    case 'union':
      return `the order changed from walk to walk, and this one holds together with ${proof.unites.length === 0 ? 'no other' : `walk id ${proof.unites.join(', ')}`} ${formatCount(proof.records)} different records, which is what the total says (${formatCount(proof.total)})`;
  }
}

function evidence(proof: Proof): string[] {
  const found: string[] = [];
  if (proof.halves !== undefined)
    found.push(
      `Its two halves${proof.halvedBy === undefined ? '' : ` by ${proof.halvedBy}`} (walk ids ${proof.halves.join(' and ')}) hold the same records together.`,
    );
  if (proof.repeated !== undefined && proof.repeated > 0)
    found.push(
      `${formatCount(proof.repeated)} ${proof.repeated === 1 ? 'record stands' : 'records stand'} on two pages${proof.agreesWith === undefined ? '' : `, and walk id ${proof.agreesWith} brought the very same records`}.`,
    );
  if (proof.nextDay !== undefined)
    found.push(
      `What of it belongs to the next day was asked for separately (walk id ${proof.nextDay}).`,
    );
  return found;
}
