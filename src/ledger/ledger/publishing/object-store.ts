// SPDX-License-Identifier: Apache-2.0
/**
 * Writes an object of an object store by a pre-signed URL, which grants write access to this one
 * object only.
 */
import type { Exchange } from '#base/egress/exchange.ts';
import { asked, refusedBy, type Destination } from './destination.ts';
import * as messages from '../messages.ts';

/** Location of the object. */
export interface ObjectStoreInit {
  /**
   * Reads the URL and below it header fields that the store requires (`x-ms-blob-type: BlockBlob`),
   * one a line. It is called for each PUT, because pre-signed URLs expire and their issuer replaces
   * the file.
   */
  readonly readPlace: () => Promise<string>;
  readonly exchange: Pick<Exchange, 'send'>;
}

/**
 * Returns a destination that overwrites the object with each note. A bucket with versioning keeps
 * all of them.
 */
export function objectStore({ readPlace, exchange }: ObjectStoreInit): Destination {
  return {
    name: 'object-store',
    publish: async ({ note }, signal) => {
      const place = parsed(await readPlace());
      if (place === undefined) {
        return { kind: 'failed', why: messages.INVALID_URL_FILE };
      }
      const answer = await asked(exchange, {
        method: 'PUT',
        url: place.url,
        body: note,
        signal,
        headers: { 'content-type': 'text/plain; charset=utf-8', ...place.headers },
      });
      if (typeof answer === 'string') return { kind: 'failed', why: answer };
      if (answer.status < 300) return { kind: 'taken' };
      return answer.status === 403
        ? { kind: 'failed', why: messages.URL_EXPIRED }
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
