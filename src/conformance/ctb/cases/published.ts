// SPDX-License-Identifier: Apache-2.0
import { sameBytes } from '../../../bytes.ts';
import { verifyPath } from '../../../pki/x509/path.ts';
import { SignerError, attempt } from '../../../errors.ts';
import { bundleName } from '../../../api/object/cluster-trust-bundle.ts';
import {
  fail,
  must,
  pass,
  should,
  skip,
  unless,
  type Case,
  type AssertionResult,
} from '../../case.ts';
import { issuedLeafOf, isAssertionResult } from '../../issued-leaf.ts';
import { CTB_SOURCES, integration } from '../../sources.ts';
import {
  anchorsIn,
  areDistinct,
  hasCriticalConstraints,
  hasKeyIdentifier,
  hasSubject,
  isNotExpired,
  isCaCertificate,
  hasStrongKey,
  isAlreadyValid,
  hasKeyCertSign,
  onAnchors,
  onEachAnchor,
  hasValidSelfSignature,
  haveDistinctKeyIdentifiers,
} from '../assertions.ts';
import type { CtbSnapshot, UnrelatedBundle, ObservedBundle } from '../snapshot.ts';

/** ClusterTrustBundleSpec.trustBundle. */
const MOST_BYTES = 1024 * 1024;

function onBundles(
  assertion: (bundles: readonly ObservedBundle[], snapshot: CtbSnapshot) => AssertionResult,
) {
  return (snapshot: CtbSnapshot): AssertionResult => {
    const { bundles } = snapshot;
    if ('skipped' in bundles) return skip(bundles.skipped);
    return bundles.length === 0 ? skip('no bundle is published') : assertion(bundles, snapshot);
  };
}

function faultOf(
  bundles: readonly ObservedBundle[],
  wrong: (bundle: ObservedBundle) => string | undefined,
): AssertionResult {
  const fault = bundles.map(wrong).find((each) => each !== undefined);
  return unless(fault, bundles.map(({ name }) => name).join(', '));
}

function isLeftAlone(which: UnrelatedBundle) {
  return ({ unrelatedBundles: neighbours }: CtbSnapshot): AssertionResult => {
    const seen = neighbours[which];
    if ('skipped' in seen) return skip(seen.skipped);
    return unless(seen.writes === 0 ? undefined : `${seen.writes} foreign writes`, 'not touched');
  };
}

/** What a signer publishes. */
export const CTB_PUBLISHED: readonly Case<CtbSnapshot>[] = [
  must('CTB-01', 'the signer publishes a bundle', CTB_SOURCES.spec, ({ bundles, signerName }) => {
    if ('skipped' in bundles) return skip(bundles.skipped);
    return bundles.length === 0
      ? fail(`no ClusterTrustBundle has spec.signerName ${signerName}`)
      : pass(`${bundles.length} bundles`);
  }),
  must(
    'CTB-02',
    'its name starts with the signer name, with a colon for the slash',
    `${CTB_SOURCES.spec}.signerName`,
    onBundles((bundles, { signerName }) =>
      faultOf(bundles, ({ name }) =>
        name.startsWith(bundleName(signerName, '')) ? undefined : name,
      ),
    ),
  ),
  must(
    'CTB-03',
    'the bundle is CERTIFICATE blocks without headers, and nothing else',
    `${CTB_SOURCES.spec}.trustBundle; RFC 7468 §5.1`,
    onBundles((bundles) =>
      faultOf(bundles, ({ name, pem }) =>
        pem.replaceAll(/-----BEGIN CERTIFICATE-----[^-:]+-----END CERTIFICATE-----/g, '').trim() ===
        ''
          ? undefined
          : `${name} has more than that`,
      ),
    ),
  ),
  must(
    'CTB-04',
    'every anchor is a CA',
    `${CTB_SOURCES.spec}.trustBundle`,
    onEachAnchor(isCaCertificate),
  ),
  must(
    'CTB-05',
    'basicConstraints is critical in every anchor',
    'RFC 5280 §4.2.1.9',
    onEachAnchor(hasCriticalConstraints),
  ),
  must('CTB-06', 'no anchor is published twice', CTB_SOURCES.validation, onAnchors(areDistinct)),
  must('CTB-07', 'no anchor has expired', 'RFC 5280 §6.1.1 (d)', onEachAnchor(isNotExpired)),
  should(
    'CTB-08',
    'every anchor is already valid',
    'RFC 5280 §4.1.2.5',
    onEachAnchor(isAlreadyValid),
  ),
  must(
    'CTB-09',
    'every anchor has a critical keyUsage with keyCertSign',
    'RFC 5280 §4.2.1.3',
    onEachAnchor(hasKeyCertSign),
  ),
  must(
    'CTB-10',
    'every anchor has a subjectKeyIdentifier',
    'RFC 5280 §4.2.1.2',
    onEachAnchor(hasKeyIdentifier),
  ),
  must('CTB-11', 'every anchor has a subject', 'RFC 5280 §4.1.2.6', onEachAnchor(hasSubject)),
  should(
    'CTB-12',
    'anchors with the same name have different key identifiers',
    'RFC 4158 §3.5.12',
    onAnchors(haveDistinctKeyIdentifiers),
  ),
  must(
    'CTB-13',
    'a self-issued anchor is signed by its own key',
    'RFC 5280 §3.2',
    onEachAnchor(hasValidSelfSignature),
  ),
  must(
    'CTB-14',
    'no anchor has a weak key',
    'CA/Browser Forum BR §6.1.5',
    onEachAnchor(hasStrongKey),
  ),
  must(
    'CTB-15',
    'the bundle has at most one megabyte',
    CTB_SOURCES.validation,
    onBundles((bundles) =>
      faultOf(bundles, ({ name, pem }) =>
        Buffer.byteLength(pem) <= MOST_BYTES ? undefined : `${name}: ${pem.length} bytes`,
      ),
    ),
  ),
  should(
    'CTB-16',
    'the bundle is not written while nothing changes, because every kubelet reads each version',
    'Kubernetes API conventions: each write is an event for every watcher',
    onBundles((bundles) =>
      faultOf(bundles, ({ name, writes }) =>
        writes === 0 ? undefined : `${name} was written ${writes} times`,
      ),
    ),
  ),
  must(
    'CTB-17',
    "the signer's leaves chain to the bundle",
    `RFC 5280 §6.1; ${CTB_SOURCES.spec}`,
    chainsToBundle,
  ),
  must(
    'CTB-18',
    'no leaf of the signer is an anchor',
    `${CTB_SOURCES.spec}.trustBundle`,
    (snapshot) => {
      const anchors = anchorsIn(snapshot);
      if ('outcome' in anchors) return anchors;
      const issued = issuedLeafOf(snapshot.leaf);
      if (isAssertionResult(issued)) return issued;
      const same = anchors.some(({ raw }) => sameBytes(raw, issued.leaf.raw));
      return same ? fail('the leaf is an anchor') : pass('it is not');
    },
  ),
  must(
    'CTB-19',
    'the field selector spec.signerName finds all of them and no other',
    integration('clustertrustbundles/field_selector_test.go'),
    onBundles((bundles, { listedNames: bundlesOfAll }) => {
      if (bundlesOfAll === undefined) return skip('the runner may not list all bundles');
      const [a, b] = [bundles.map(({ name }) => name), bundlesOfAll].map((each) =>
        [...each].sort().join(', '),
      );
      return a === b ? pass(a ?? '') : fail(`${a ?? ''}, but of all bundles ${b ?? ''}`);
    }),
  ),
  must(
    'CTB-20',
    'the signer leaves bundles of another signer name alone',
    CTB_SOURCES.spec,
    isLeftAlone('foreign'),
  ),
  must(
    'CTB-21',
    'the signer leaves bundles without a signer name alone',
    CTB_SOURCES.spec,
    isLeftAlone('unlinked'),
  ),
];

function chainsToBundle(snapshot: CtbSnapshot): AssertionResult {
  const anchors = anchorsIn(snapshot);
  if ('outcome' in anchors) return anchors;
  const issued = issuedLeafOf(snapshot.leaf);
  if (isAssertionResult(issued)) return issued;
  const { leaf, chain } = issued;
  const path = attempt(() =>
    verifyPath({ leaf, intermediates: chain.slice(1), anchors, now: snapshot.now }),
  );
  if (path instanceof SignerError) return fail(path.message);
  return pass(`${path.length} certificates to an anchor`);
}
