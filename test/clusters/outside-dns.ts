// SPDX-License-Identifier: Apache-2.0
/**
 * One HTTPS server that is an acme-dns (its README, "Update endpoint") and a resolver (RFC 8484)
 * that knows its records.
 */
import { once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import packet, { type Answer } from 'dns-packet';
import { tlsCertificate } from '../support/pki/tls-certificate.ts';

export interface OutsideDns {
  readonly port: number;
  /** Trust anchor of its certificate, as PEM. */
  readonly ca: string;
  /** Target of the CNAME at `_acme-challenge`. */
  readonly fulldomain: string;
  /** TXT values that clients wrote. */
  readonly updates: string[];
  readonly stop: () => Promise<void>;
}

/**
 * @param hosts - names of the server; the first is that of acme-dns
 * @param dnsName - the name whose `_acme-challenge` is a CNAME to acme-dns
 */
export async function startOutsideDns(
  hosts: readonly string[],
  dnsName: string,
): Promise<OutsideDns> {
  const { cert, key } = await tlsCertificate('outside', { dnsNames: hosts });
  const updates: string[] = [];
  const fulldomain = `d420.${hosts[0] ?? ''}`;
  const cname = { name: `_acme-challenge.${dnsName}`, type: 'CNAME', data: fulldomain } as const;
  const recordsOf = (name: string): readonly Answer[] => {
    const txt = { name: fulldomain, type: 'TXT', data: updates.slice(-2) } as const;
    const values = txt.data.map((data): Answer => ({ ...txt, data }));
    if (name === fulldomain) return values;
    return name === cname.name ? [cname, ...values] : [];
  };
  const server = createServer({ cert, key }, (request, response) => {
    const query = new URL(request.url ?? '', 'https://outside').searchParams.get('dns');
    if (query !== null) {
      const { id = 0, questions = [] } = packet.decode(Buffer.from(query, 'base64url'));
      const answers = questions.flatMap(({ name }) => recordsOf(name));
      const flags = packet.RECURSION_DESIRED | packet.RECURSION_AVAILABLE;
      response.setHeader('content-type', 'application/dns-message');
      response.end(packet.encode({ type: 'response', id, flags, questions, answers }));
      return;
    }
    void text(request).then((body) => {
      const { txt } = JSON.parse(body) as { readonly txt: string };
      updates.push(txt);
      response.end(JSON.stringify({ txt }));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    ca: cert,
    fulldomain,
    updates,
    stop: async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
