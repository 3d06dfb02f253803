// SPDX-License-Identifier: Apache-2.0
/** For each case of ClusterTrustBundles a signer, or an API server, that breaks it. */
import {
  CTB_CALLS,
  MOUNTS,
  REFUSALS,
  type CtbWorld,
} from '../../../src/conformance/ctb/snapshot.ts';
import { sequence } from '../../../src/pki/der/der-writer.ts';
import { basicConstraints, type Extension } from '../../../src/pki/extensions/encode-extensions.ts';
import { privateKey, spkiOf } from '../pki/keys.ts';
import { bundle, goodCtbWorld } from './ctb-snapshot.ts';
import { NOW, ROOT, authority, leaf, type Parts } from './leaf.ts';
import { asked, issued } from './observed-requests.ts';

const HOUR = 3600_000;
const published = (...pems: readonly string[]): CtbWorld =>
  goodCtbWorld({ bundles: [bundle(pems.join(''))] });
const anchor = (parts: Parts): CtbWorld => published(authority('Broken', 'broken', parts).pem);
const without = (type: string): Parts => ({
  extensions: (good) => good.filter(({ oid }) => oid !== type),
});
const instead = (changed: Extension): Parts => ({
  extensions: (good) => [...good.filter(({ oid }) => oid !== changed.oid), changed],
});
const weak = leaf(asked({ spki: spkiOf(privateKey('RSA-1024')) }));
const own = leaf(asked());
const FAULT = { fault: 'no' };

export const CTB_BROKEN: Readonly<Record<string, CtbWorld>> = {
  'CTB-01': goodCtbWorld({ bundles: [] }),
  'CTB-02': goodCtbWorld({ bundles: [bundle(ROOT.pem, { name: 'other.example.com:x:primary' })] }),
  'CTB-03': published(ROOT.pem, 'Bag Attributes: none\n'),
  'CTB-04': published(leaf(asked()).pem),
  'CTB-05': anchor(instead({ ...basicConstraints({ ca: true }), critical: false })),
  'CTB-06': published(ROOT.pem, ROOT.pem),
  'CTB-07': anchor({ notAfter: NOW - HOUR }),
  'CTB-08': anchor({ notBefore: NOW + HOUR }),
  'CTB-09': anchor(without('2.5.29.15')),
  'CTB-10': anchor(without('2.5.29.14')),
  'CTB-11': anchor({ subject: sequence() }),
  'CTB-12': published(
    authority('One name', 'first', without('2.5.29.14')).pem,
    authority('One name', 'second', without('2.5.29.14')).pem,
  ),
  // Its own name, and another's signature.
  'CTB-13': anchor({ subject: ROOT.certificate.subject.raw, by: ROOT }),
  'CTB-14': published(weak.pem),
  'CTB-15': published(ROOT.pem, ' '.repeat(1024 * 1024)),
  'CTB-16': goodCtbWorld({ bundles: [bundle(ROOT.pem, { writes: 3 })] }),
  'CTB-17': published(authority('Stranger', 'stranger').pem),
  'CTB-18': goodCtbWorld({
    bundles: [bundle(own.pem)],
    leaf: {
      ...issued(),
      versions: issued().versions.map((each) =>
        each.pem === '' ? each : { ...each, pem: own.pem },
      ),
    },
  }),
  'CTB-19': goodCtbWorld({ bundlesOfAll: [] }),
  'CTB-20': goodCtbWorld({ neighbours: { foreign: { writes: 1 }, unlinked: { writes: 0 } } }),
  'CTB-21': goodCtbWorld({ neighbours: { foreign: { writes: 0 }, unlinked: { writes: 1 } } }),
  ...Object.fromEntries(
    REFUSALS.map((name, index) => [
      `CTB-${22 + index}`,
      goodCtbWorld({ refusals: { ...goodCtbWorld().refusals, [name]: FAULT } }),
    ]),
  ),
  ...Object.fromEntries(
    CTB_CALLS.map((name, index) => [
      `CTB-${30 + index}`,
      goodCtbWorld({ calls: { ...goodCtbWorld().calls, [name]: FAULT } }),
    ]),
  ),
  ...Object.fromEntries(
    MOUNTS.map((name, index) => [
      `CTB-${41 + index}`,
      goodCtbWorld({ mounts: { ...goodCtbWorld().mounts, [name]: FAULT } }),
    ]),
  ),
};
