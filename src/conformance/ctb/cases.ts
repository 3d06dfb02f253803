// SPDX-License-Identifier: Apache-2.0
import { bundleName } from '#api/object/cluster-trust-bundle.ts';
import { sameBytes } from '#base/bytes.ts';
import { attempt, SignerError } from '#base/errors.ts';
import { verifyPath } from '#pki/x509/path.ts';
import {
  type AssertionResult,
  type Case,
  fail,
  must,
  pass,
  should,
  skip,
  unless,
} from '../case.ts';
import { isAssertionResult, issuedLeafOf } from '../issued-leaf.ts';
import { onOperation, type Operation } from '../snapshot.ts';
import { CTB_SOURCES, e2e, integration } from '../sources.ts';
import {
  anchorsIn,
  haveDistinctAnchors,
  hasCriticalConstraints,
  hasKeyCertSign,
  hasKeyIdentifier,
  hasLongRsaKey,
  hasSubject,
  hasValidSelfSignature,
  haveDistinctKeyIdentifiers,
  isAlreadyValid,
  isCaCertificate,
  isNotExpired,
  marksKeyUsageCritical,
  onAnchors,
  onEachAnchor,
} from './assertions.ts';
import {
  CTB_CALLS,
  type CtbCall,
  type CtbSnapshot,
  INVALID_BUNDLES,
  type InvalidBundle,
  type Mount,
  MOUNTS,
  type ObservedBundle,
  type UnrelatedBundle,
} from './snapshot.ts';

/** The limit of ClusterTrustBundleSpec.trustBundle in bytes. */
const MAX_BYTES = 1024 * 1024;

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

type Text = readonly [asserts: string, source: string];

const REFUSED: Readonly<Record<InvalidBundle, Text>> = {
  wrongPrefix: [
    "a bundle of a signer whose name lacks the signer's prefix is rejected",
    `${CTB_SOURCES.spec}.signerName`,
  ],
  prefixWithoutSigner: [
    "a bundle without a signer whose name has a signer's prefix is rejected",
    `${CTB_SOURCES.spec}.signerName`,
  ],
  signerChange: [
    'a change of the signer name is rejected',
    integration('clustertrustbundles/signer_name_change_forbidden_test.go'),
  ],
  noCertificate: ['a bundle without a certificate is rejected', CTB_SOURCES.validation],
  otherBlock: ['a bundle with another PEM block is rejected', `${CTB_SOURCES.spec}.trustBundle`],
  headers: ['a bundle with PEM headers is rejected', `${CTB_SOURCES.spec}.trustBundle`],
  noAuthority: [
    'a bundle with a certificate that is not a CA is rejected',
    `${CTB_SOURCES.spec}.trustBundle`,
  ],
  duplicate: [
    'a bundle with the same certificate twice is rejected',
    `${CTB_SOURCES.spec}.trustBundle`,
  ],
};

const mounts = (test: string): string => e2e('projected_clustertrustbundle.go', test);
const API = mounts('certificates.k8s.io/v1 ClusterTrustBundles');

const CALLED: Readonly<Record<CtbCall, Text>> = {
  discovery: ['v1 has clustertrustbundles', API],
  create: ['a bundle is created', API],
  read: ['a bundle is read as it was created', API],
  listAndWatch: ['a list has it, and a watch reports it', API],
  update: ['an update changes the anchors', API],
  applyPatch: ['an apply patch changes the anchors', API],
  strategicPatch: ['a strategic merge patch changes the anchors', API],
  mergePatch: ['a JSON merge patch changes the anchors', API],
  jsonPatch: ['a JSON patch changes the anchors', API],
  delete: ['a deleted bundle is gone', API],
  deleteCollection: ['a deleted collection is empty', API],
};

const ONE = mounts('should be able to mount a single ClusterTrustBundle by name');
const MANY = mounts('should be able to mount a big number (>100) of CTBs');

/**
 * The requirement for each pod. A test from outside only sees whether the pod starts, and does not
 * read its files.
 */
const MOUNTED: Readonly<Record<Mount, Text>> = {
  byName: ['a pod starts that mounts a bundle by its name', ONE],
  absentOptional: ['a pod starts whose bundle does not exist and is optional', ONE],
  byLabels: [
    'a pod starts that mounts the bundles of a signer with a label',
    mounts('can combine multiple CTBs with signer name and label selector'),
  ],
  nilSelectorOptional: [
    'a pod starts that names a signer and no selector, optional',
    mounts('should start if only signer name and nil label selector + optional=true'),
  ],
  noMatchOptional: [
    'a pod starts whose selector matches nothing, optional',
    mounts(
      'should start if only signer name and explicit label selector matches nothing + optional=true',
    ),
  ],
  emptySelector: [
    'a pod starts that mounts all bundles of a signer',
    mounts('can combine all signer CTBs with an empty label selector'),
  ],
  noMatchRequired: [
    'a pod does not start whose selector matches nothing',
    mounts('sets optional=false and no trust bundle matches query'),
  ],
  absentRequired: [
    'a pod does not start whose bundle does not exist',
    mounts('sets optional=false and the configured CTB does not exist'),
  ],
  severalVolumes: [
    'a pod starts with several volumes of bundles',
    mounts('should be able to specify multiple CTB volumes'),
  ],
  manySources: ['a pod starts with 150 bundles in one volume', MANY],
  manyVolumes: ['a pod starts with 150 volumes of one bundle each', MANY],
  manyJoined: ['a pod starts with 150 bundles joined in one file', MANY],
};

/** The first ids of the groups, which follow in their order. */
const FIRST_REFUSAL = 22;
const FIRST_CALL = FIRST_REFUSAL + INVALID_BUNDLES.length;
const FIRST_MOUNT = FIRST_CALL + CTB_CALLS.length;
const AFTER_MOUNTS = FIRST_MOUNT + MOUNTS.length;

function group<O extends string>(
  first: number,
  names: readonly O[],
  texts: Readonly<Record<O, Text>>,
  pick: (snapshot: CtbSnapshot) => Readonly<Record<O, Operation>>,
): readonly Case<CtbSnapshot>[] {
  return names.map((name, index) => {
    const [asserts, source]: Text = texts[name];
    return must(`CTB-${first + index}`, asserts, source, (snapshot: CtbSnapshot) =>
      onOperation(name)({ operations: pick(snapshot) }),
    );
  });
}

/**
 * Cases about the API server's and the kubelets' treatment of bundles: Kubernetes 1.37's own tests.
 */
const CTB_UPSTREAM: readonly Case<CtbSnapshot>[] = [
  ...group(FIRST_REFUSAL, INVALID_BUNDLES, REFUSED, ({ invalidBundles: refusals }) => refusals),
  ...group(FIRST_CALL, CTB_CALLS, CALLED, ({ calls }) => calls),
  ...group(FIRST_MOUNT, MOUNTS, MOUNTED, (snapshot) => snapshot.mounts),
];

/** Every case of `--kind ctb`: ClusterTrustBundles of certificates.k8s.io. */
export const CTB_CASES: readonly Case<CtbSnapshot>[] = [
  // Published bundles.
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
  must('CTB-06', 'no bundle has an anchor twice', CTB_SOURCES.validation, haveDistinctAnchors),
  must('CTB-07', 'no anchor has expired', 'RFC 5280 §6.1.1 (d)', onEachAnchor(isNotExpired)),
  should(
    'CTB-08',
    'every anchor is already valid',
    'RFC 5280 §4.1.2.5',
    onEachAnchor(isAlreadyValid),
  ),
  must(
    'CTB-09',
    'every anchor has a keyUsage with keyCertSign',
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
    onEachAnchor(hasLongRsaKey),
  ),
  must(
    'CTB-15',
    'the bundle has at most one megabyte',
    CTB_SOURCES.validation,
    onBundles((bundles) =>
      faultOf(bundles, ({ name, pem }) =>
        Buffer.byteLength(pem) <= MAX_BYTES ? undefined : `${name}: ${pem.length} bytes`,
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
  ...CTB_UPSTREAM,
  should(
    `CTB-${AFTER_MOUNTS}`,
    'keyUsage is critical in every anchor',
    'RFC 5280 §4.2.1.3',
    onEachAnchor(marksKeyUsageCritical),
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
