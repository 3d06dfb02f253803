// SPDX-License-Identifier: Apache-2.0
/** An object of an object store, written by a pre-signed URL: whoever has it can write this one object, and nothing else. */
import type { Exchange } from '../../../acme/exchange.ts';
import { asked, refusedBy, type Destination } from './destination.ts';

/** Where it is. */
export interface ObjectStoreInit {
  /**
   * The URL, and below it header fields that the store wants (`x-ms-blob-type: BlockBlob`), one a line. Read for each call:
   * pre-signed URLs expire, and whoever makes them replaces the file.
   */
  readonly readPlace: () => Promise<string>;
  readonly exchange: Pick<Exchange, 'send'>;
}

/** PUTs each note in place of the one before: a bucket with versions keeps all of them. */
export function objectStore({ readPlace, exchange }: ObjectStoreInit): Destination {
  return {
    name: 'object-store',
    publish: async ({ note }, signal) => {
      const place = parsed(await readPlace());
      if (place === undefined) {
        return { kind: 'failed', why: 'its file must hold a pre-signed https:// URL' };
      }
      const answer = await asked(exchange, {
        ...{ method: 'PUT', url: place.url, body: note, signal },
        headers: { 'content-type': 'text/plain; charset=utf-8', ...place.headers },
      });
      if (typeof answer === 'string') return { kind: 'failed', why: answer };
      if (answer.status < 300) return { kind: 'taken' };
      return answer.status === 403
        ? { kind: 'failed', why: 'it answers 403: the pre-signed URL may have expired' }
        : refusedBy({ ...answer, body: '' });
    },
  };
}

interface Place {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

function parsed(text: string): Place | undefined {
  const [url = '', ...lines] = text.trim().split(/\r?\n/);
  if (URL.parse(url)?.protocol !== 'https:') return undefined;
  const fields = lines.map((line) => /^([A-Za-z0-9-]+):\s*(\S.*)$/.exec(line));
  return {
    url,
    headers: Object.fromEntries(
      fields.map((field) => [(field?.[1] ?? '').toLowerCase(), field?.[2] ?? '']),
    ),
  };
}
