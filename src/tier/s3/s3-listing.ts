/** A page of a bucket's listing (ListObjectsV2), read strictly: an object that is overlooked is as bad as one that is lost. */
import { compareKeys } from '../object-store.ts';
import { childText, parseXml, type XmlElement } from './s3-xml.ts';

/** An object, its key as the bucket has it, and where the next page begins; null: there is none. */
export interface S3Page {
  readonly objects: readonly {
    readonly key: string;
    readonly bytes: number;
    readonly modifiedAt: Date;
  }[];
  readonly next: string | null;
}

/**
 * @param asked what all keys begin with, and what they are all behind.
 * @returns null: it is no such page.
 */
export function readS3Page(
  xml: string,
  asked: { readonly prefix: string; readonly after: string },
): S3Page | null {
  const root = parseXml(xml);
  if (root?.name !== 'ListBucketResult') return null;
  const truncated = childText(root, 'IsTruncated');
  const next = truncated === 'true' ? childText(root, 'NextContinuationToken') : null;
  if ((truncated !== 'true' && truncated !== 'false') || next === undefined || next === '')
    return null;
  const isEncoded = childText(root, 'EncodingType') === 'url';
  const objects = [];
  let last = asked.after;
  for (const element of root.children.filter(({ name }) => name === 'Contents')) {
    const object = readObject(element, isEncoded);
    // In order, so that none comes twice and a listing that goes in a circle ends.
    if (
      object === null ||
      !object.key.startsWith(asked.prefix) ||
      compareKeys(object.key, last) <= 0
    )
      return null;
    last = object.key;
    objects.push(object);
  }
  return { objects, next };
}

function readObject(element: XmlElement, isEncoded: boolean): S3Page['objects'][number] | null {
  const key = childText(element, 'Key');
  const size = childText(element, 'Size') ?? '';
  const modifiedAt = new Date(childText(element, 'LastModified') ?? '');
  const plain = key === undefined ? null : isEncoded ? decoded(key) : key;
  if (
    plain === null ||
    plain === '' ||
    !/^\d{1,15}$/.test(size) ||
    Number.isNaN(modifiedAt.getTime())
  )
    return null;
  return { key: plain, bytes: Number(size), modifiedAt };
}

/** As forms are: a space may be a plus. */
function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return null;
  }
}
