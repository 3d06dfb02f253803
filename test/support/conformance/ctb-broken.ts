// SPDX-License-Identifier: Apache-2.0
/** For each case of ClusterTrustBundles a signer, or an API server, that breaks it. */
import { CTB_CALLS, MOUNTS, INVALID_BUNDLES, type CtbSnapshot } from '#conformance/ctb/snapshot.ts';
import { sequence } from '#pki/der/der-writer.ts';
import { basicConstraints, keyUsage } from '#pki/extensions/encode-extensions.ts';
import { privateKey, spkiOf } from '../pki/keys.ts';
import { bundle, goodCtbSnapshot } from './ctb-snapshot.ts';
import { NOW, ROOT, authority, instead, leaf, without, type Parts } from './leaf.ts';
import { requested, issued } from './observed-requests.ts';

const HOUR = 3600_000;
const published = (...pems: readonly string[]): CtbSnapshot =>
  goodCtbSnapshot({ bundles: [bundle(pems.join(''))] });
const anchor = (parts: Parts): CtbSnapshot => published(authority('Broken', 'broken', parts).pem);
const weak = leaf(requested({ spki: spkiOf(privateKey('RSA-1024')) }));
const own = leaf(requested());
const FAULT = { fault: 'no' };

export const CTB_BROKEN: Readonly<Record<string, CtbSnapshot>> = {
  'CTB-01': goodCtbSnapshot({ bundles: [] }),
  'CTB-02': goodCtbSnapshot({
    bundles: [bundle(ROOT.pem, { name: 'other.example.com:x:primary' })],
  }),
  'CTB-03': published(ROOT.pem, 'Bag Attributes: none\n'),
  'CTB-04': published(leaf(requested()).pem),
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
  'CTB-16': goodCtbSnapshot({ bundles: [bundle(ROOT.pem, { writes: 3 })] }),
  'CTB-17': published(authority('Stranger', 'stranger').pem),
  'CTB-18': goodCtbSnapshot({
    bundles: [bundle(own.pem)],
    leaf: {
      ...issued(),
      versions: issued().versions.map((each) =>
        each.pem === '' ? each : { ...each, pem: own.pem },
      ),
    },
  }),
  'CTB-19': goodCtbSnapshot({ listedNames: [] }),
  'CTB-20': goodCtbSnapshot({
    unrelatedBundles: { foreign: { writes: 1 }, unlinked: { writes: 0 } },
  }),
  'CTB-21': goodCtbSnapshot({
    unrelatedBundles: { foreign: { writes: 0 }, unlinked: { writes: 1 } },
  }),
  ...Object.fromEntries(
    INVALID_BUNDLES.map((name, index) => [
      `CTB-${22 + index}`,
      goodCtbSnapshot({ invalidBundles: { ...goodCtbSnapshot().invalidBundles, [name]: FAULT } }),
    ]),
  ),
  ...Object.fromEntries(
    CTB_CALLS.map((name, index) => [
      `CTB-${30 + index}`,
      goodCtbSnapshot({ calls: { ...goodCtbSnapshot().calls, [name]: FAULT } }),
    ]),
  ),
  ...Object.fromEntries(
    MOUNTS.map((name, index) => [
      `CTB-${41 + index}`,
      goodCtbSnapshot({ mounts: { ...goodCtbSnapshot().mounts, [name]: FAULT } }),
    ]),
  ),
  'CTB-53': anchor(instead({ ...keyUsage(['keyCertSign']), critical: false })),
};
