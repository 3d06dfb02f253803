// SPDX-License-Identifier: Apache-2.0
/** How long a running process uses a CA that it opened. */
import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { test } from 'node:test';
import type { Secret } from '#api/object/object.ts';
import type { Authority } from '#ca/custody/contract.ts';
import { openLocalAuthority } from '#ca/custody/local.ts';
import { createOpenedSecrets } from '#requests/ca/opened-secrets.ts';
import { NOW, ca, keyIds, link, usage, type Link } from '../../support/pki/chain.ts';
import { seq, utcTime } from '../../support/pki/der.ts';
import { workload } from '../../support/signers/workload-profile.ts';

const HOUR = 3_600_000;

/** A validity, in hours from NOW. */
function during(from: number, to: number): Uint8Array {
  const time = (hours: number): Uint8Array => {
    const digits = new Date(NOW + hours * HOUR).toISOString().replaceAll(/[-:T]/g, '');
    return utcTime(`${digits.slice(2, 14)}Z`);
  };
  return seq(time(from), time(to));
}

const isCa = [ca(), usage()];
const root = link('root', { extensions: [...isCa, ...keyIds('root')] });
const below = (name: string, by: Link, validity: Uint8Array): Link =>
  link(name, { by, validity, extensions: [...isCa, ...keyIds(name, by.name)] });

function secretWith(chain: readonly [Link, ...Link[]]): Secret {
  const base64 = (text: string): string => Buffer.from(text).toString('base64');
  const pem = ({ certificate }: Link): string => new X509Certificate(certificate.raw).toString();
  const key = chain[0].key.export({ type: 'pkcs8', format: 'pem' }).toString();
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { ...workload().metadata, name: 'corp-ca' },
    data: {
      'tls.crt': base64(chain.map(pem).join('')),
      'tls.key': base64(key),
      'ca.crt': base64(pem(root)),
    },
  };
}

/** Opens the CA at each of these hours in one process, and counts the openings. */
function openedAt(
  chain: readonly [Link, ...Link[]],
  hours: readonly number[],
): { readonly found: readonly Authority['facts'][]; readonly openings: number } {
  let now = NOW;
  let openings = 0;
  const opened = createOpenedSecrets(
    (...args) => {
      openings += 1;
      return openLocalAuthority(...args);
    },
    () => now,
  );
  const secret = secretWith(chain);
  const found = hours.map((hour) => {
    now = NOW + hour * HOUR;
    return opened.open(secret, workload()).facts;
  });
  return { found, openings };
}

const expiring = below('issuing', root, during(-100, 2));
const renewed = below('issuing', root, during(1, 2000));

for (const [place, chain] of [
  ['before', [renewed, expiring]],
  ['after', [expiring, renewed]],
] as const) {
  test(`a renewed certificate ${place} the expiring one is used once that expires`, () => {
    const { found } = openedAt(chain, [0, 3]);
    assert.deepEqual(
      found.map(({ notAfter }) => (notAfter - NOW) / HOUR),
      [2, 2000],
    );
  });
}

test('the successor of an expired intermediate is delivered', () => {
  const [first, second] = [during(-100, 2), during(1, 2000)].map((validity) =>
    below('middle', root, validity),
  );
  assert.ok(first && second);
  const issuing = below('issuing', first, during(-90, 2000));
  const { found } = openedAt([issuing, first, second], [0, 3]);
  const delivered = found.map(({ intermediates }) => intermediates.map(({ notAfter }) => notAfter));
  assert.deepEqual(delivered, [
    [issuing.certificate.notAfter, first.certificate.notAfter],
    [issuing.certificate.notAfter, second.certificate.notAfter],
  ]);
});

test('a CA is opened once between the times at which its certificates change', () => {
  const { openings } = openedAt([expiring, renewed], [0, 0.5, 1, 1.5, 3, 4, 1000]);
  assert.equal(openings, 3);
});
