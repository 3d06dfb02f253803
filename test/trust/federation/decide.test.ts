// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ClusterTrustBundle } from '#api/object/cluster-trust-bundle.ts';
import {
  decideEnded,
  decideFetched,
  decideHeld,
  isOwn,
  orphanedDomains,
  sameCaAs,
  sharedAmong,
  type FederatedChange,
  type FederatedState,
} from '#trust/federation/decide.ts';
import { fingerprint } from '#pki/x509/certificate.ts';
import { writeBundle } from '#trust/spiffe/write-bundle.ts';
import { ca, keyIds, link, san, usage, type Link } from '../../support/pki/chain.ts';
import { extension, octets } from '../../support/pki/der.ts';
import { pemOf, spiffeCa } from '../../support/trust/certificates.ts';

const NOW = Date.UTC(2026, 10, 23, 1);
const HOUR = 3_600_000;
const KEYS = 'countersign-keys';
const KEEP_MS = 24 * HOUR;
const DOMAIN = 'partner.example';
const [A, B, OWN] = [spiffeCa('A', ...keyIds('A')), spiffeCa('B', ...keyIds('B')), spiffeCa('own')];
const ROOT = spiffeCa('root', ...keyIds('root'));
const judgedBy = {
  sequence: 5n as bigint | undefined,
  ownDomains: ['prod.example.com'],
  isManaged: sameCaAs([OWN.certificate], () => false),
  trustDomain: DOMAIN,
  sharedWith: (): string | undefined => undefined,
};

function published(
  links: readonly Link[],
  { sequence = '5', age = 0 }: { readonly sequence?: string; readonly age?: number } = {},
): ClusterTrustBundle {
  return {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'ClusterTrustBundle',
    metadata: {
      name: `federated.${DOMAIN}`,
      uid: 'b-1',
      resourceVersion: '3',
      creationTimestamp: '2026-11-21T09:00:00Z',
      annotations: {
        'countersign.dev/trust-domain': DOMAIN,
        'countersign.dev/spiffe-sequence': sequence,
        'countersign.dev/fetched-at': Number.isNaN(age) ? '' : new Date(NOW - age).toISOString(),
      },
    },
    spec: { trustBundle: links.map(pemOf).join('') },
  };
}

function stateOf(existing: ClusterTrustBundle | undefined): FederatedState {
  return { trustDomain: DOMAIN, existing, now: NOW, clocksApart: false, keepMs: KEEP_MS };
}

function documentOf(links: readonly Link[], sequence = 6n): { readonly text: string } {
  const anchors = links.map(({ certificate }) => certificate);
  return { text: writeBundle({ anchors, sequence, refreshSeconds: 60 }) };
}

/** What a change is, and why. */
function said({ kind, reason }: FederatedChange): string {
  return `${kind} ${reason ?? ''}`.trim();
}

test('a newer bundle is written, with its sequence and the time', () => {
  const { change, refreshSeconds } = decideFetched(
    stateOf(published([A])),
    documentOf([A, B], 6n),
    judgedBy,
  );
  assert.equal(said(change), 'write Updated');
  assert.ok(change.kind === 'write' && change.sequence === 6n && change.at === NOW);
  assert.ok(change.text.includes(pemOf(A)) && change.text.includes(pemOf(B)));
  assert.equal(refreshSeconds, 60);
});

test('an unchanged bundle is written for its time only, at an eighth of the bound', () => {
  const answer = documentOf([A], 5n);
  const of = (age: number): string =>
    said(decideFetched(stateOf(published([A], { age })), answer, judgedBy).change);
  assert.equal(of(HOUR), 'keep');
  assert.equal(of(3 * HOUR), 'write StillValid');
  assert.equal(of(-HOUR), 'write StillValid');
});

test('a sequence that goes backwards changes nothing, whatever the bundle says', () => {
  const state = stateOf(published([A]));
  for (const links of [[B], []])
    assert.equal(
      said(decideFetched(state, documentOf(links, 4n), judgedBy).change),
      'keep SequenceDecreased',
    );
  const unknown = { ...judgedBy, sequence: undefined };
  assert.equal(said(decideFetched(state, documentOf([B], 4n), unknown).change), 'write Updated');
});

test('a bundle with our CA, key or trust domain or a distrusted CA is refused whole', () => {
  const state = stateOf(published([A]));
  const sameKey = link('renewed', { key: OWN.key, extensions: [ca()] });
  const ofOurs = spiffeCa('claims', san([6, 'spiffe://prod.example.com']));
  const refusal = (links: readonly Link[], by = judgedBy): string =>
    said(decideFetched(state, documentOf(links), by).change);
  assert.equal(refusal([A, OWN]), 'keep OwnAnchor');
  assert.equal(refusal([A, sameKey]), 'keep OwnAnchor');
  assert.equal(refusal([A, ofOurs]), 'keep OwnTrustDomain');
  const inCapitals = spiffeCa('claims', san([6, 'SPIFFE://Prod.Example.COM']));
  assert.equal(refusal([A, inCapitals]), 'keep OwnTrustDomain');
  assert.equal(
    refusal([A, spiffeCa('claims', san([6, 'spiffe://third.example']))]),
    'keep TrustDomainMismatch',
  );
  assert.equal(refusal([A, spiffeCa('says so', san([6, `spiffe://${DOMAIN}`]))]), 'write Updated');
  const print = fingerprint(B.certificate.raw);
  const isManaged = sameCaAs([], (each) => each === print);
  assert.equal(refusal([A, B], { ...judgedBy, isManaged }), 'keep OwnAnchor');
});

test('an answer that is none, or no bundle, changes nothing', () => {
  const state = stateOf(published([A]));
  assert.equal(said(decideFetched(state, { problem: 'x' }, judgedBy).change), 'keep FetchFailed');
  assert.equal(said(decideFetched(state, { text: '{}' }, judgedBy).change), 'keep Malformed');
});

test('a bundle whose PEM a ClusterTrustBundle cannot hold changes nothing', () => {
  const filling = (size: number): Uint8Array => extension('1.2.3.4', octets(new Uint8Array(size)));
  const huge = ['A', 'B', 'C'].map((name) => spiffeCa(name, filling(261_400)));
  const answer = documentOf(huge);
  assert.ok(answer.text.length < 1024 * 1024, 'a longer answer is not read');
  const { change, taken } = decideFetched(stateOf(published([A])), answer, judgedBy);
  assert.equal(said(change), 'keep Malformed');
  assert.equal(taken, undefined);
});

test('a trust domain without usable keys is dropped at once (B §4.1.3)', () => {
  assert.equal(
    said(decideFetched(stateOf(published([A])), documentOf([]), judgedBy).change),
    'drop Revoked',
  );
  assert.equal(
    said(decideFetched(stateOf(undefined), documentOf([]), judgedBy).change),
    'keep Revoked',
  );
});

test('what is held is dropped at its bound, with a reason, and not before', () => {
  const of = (age: number): string =>
    said(decideHeld(stateOf(published([A], { age })), judgedBy.isManaged));
  assert.equal(of(KEEP_MS - 1), 'keep');
  assert.equal(of(KEEP_MS), 'drop Stale');
  assert.equal(of(NaN), 'drop Stale');
  // Somebody wrote a time to come, so that it would never be too old.
  assert.equal(of(-KEEP_MS), 'drop Stale');
});

test('distrust removes a held CA at once and does not renew the bundle’s age', () => {
  const isManaged = sameCaAs([B.certificate], () => false);
  const age = HOUR;
  const change = decideHeld(stateOf(published([A, B], { age })), isManaged);
  assert.ok(change.kind === 'write' && change.text === pemOf(A) && change.at === NOW - age);
  assert.equal(said(decideHeld(stateOf(published([B])), isManaged)), 'drop OwnAnchor');
});

test('a ClusterTrustBundle with a signer or another trust domain is not ours', () => {
  const ours = published([A]);
  assert.ok(isOwn(ours, DOMAIN, KEYS));
  assert.ok(!isOwn(ours, 'other.example', KEYS));
  const linked = { ...ours, spec: { ...ours.spec, signerName: 'example.com/workload' } };
  const { annotations: _, ...metadata } = ours.metadata;
  for (const foreign of [linked, { ...ours, metadata }]) assert.ok(!isOwn(foreign, DOMAIN, KEYS));
});

/** As an installation marks what it writes. */
function writtenBy(secretNamespace: string): ClusterTrustBundle {
  const bundle = published([A]);
  const annotations = {
    ...bundle.metadata.annotations,
    'countersign.dev/secret-namespace': secretNamespace,
  };
  return { ...bundle, metadata: { ...bundle.metadata, annotations } };
}

test('the bundle of another installation is not ours', () => {
  assert.ok(isOwn(writtenBy(KEYS), DOMAIN, KEYS));
  assert.ok(!isOwn(writtenBy('other-keys'), DOMAIN, KEYS));
});

test('a trust domain that is ended loses its bundle', () => {
  assert.equal(said(decideEnded(stateOf(published([A])))), 'drop Ended');
  assert.equal(said(decideEnded(stateOf(undefined))), 'keep');
});

test('our own bundle is left over once no spec names its trust domain', () => {
  const bundles = [writtenBy(KEYS)];
  assert.deepEqual(orphanedDomains(bundles, new Set(), KEYS), [DOMAIN]);
  assert.deepEqual(orphanedDomains(bundles, new Set([DOMAIN]), KEYS), []);
  assert.deepEqual(orphanedDomains([writtenBy('other-keys'), published([A])], new Set(), KEYS), []);
  const elsewhere = { ...writtenBy(KEYS), metadata: { ...writtenBy(KEYS).metadata, name: 'a' } };
  assert.deepEqual(orphanedDomains([elsewhere], new Set(), KEYS), []);
});

test('a CA that another foreign trust domain has, too, is taken, and said', () => {
  const sharedWith = sharedAmong(new Map([['third.example', pemOf(B)]]));
  const look = decideFetched(stateOf(published([A])), documentOf([A, B]), {
    ...judgedBy,
    sharedWith,
  });
  assert.equal(said(look.change), 'write Updated');
  assert.equal(look.warning?.reason, 'SharedAnchor');
  assert.match(look.warning.message, /^CA sha256:.* in the bundle of third\.example/);
  const alone = decideFetched(stateOf(published([A])), documentOf([A]), {
    ...judgedBy,
    sharedWith,
  });
  assert.equal(alone.warning, undefined);
});

test('an intermediate without its root is taken, and a warning names who rejects it', () => {
  const middle = link('middle', { by: ROOT, extensions: [ca(), usage(), ...keyIds('m', 'root')] });
  const warned = (links: readonly Link[]): string => {
    const { change, warning } = decideFetched(stateOf(undefined), documentOf(links), judgedBy);
    assert.equal(said(change), 'write Updated');
    return `${warning?.reason}: ${warning?.message}`;
  };
  assert.match(
    warned([middle]),
    /^AnchorRejected: "CN=middle" is an anchor but not a root.*: rejected by OpenSSL, .*Node, Python/,
  );
  assert.equal(warned([middle, ROOT]), 'undefined: undefined');
});
