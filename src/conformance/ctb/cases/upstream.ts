// SPDX-License-Identifier: Apache-2.0
import { must, type Case } from '../../case.ts';
import { CTB_SOURCES, e2e, integration } from '../../sources.ts';
import { onOperation, type Operation } from '../../snapshot.ts';
import {
  CTB_CALLS,
  MOUNTS,
  INVALID_BUNDLES,
  type CtbCall,
  type CtbSnapshot,
  type Mount,
  type InvalidBundle,
} from '../snapshot.ts';

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

/** Whether the pod starts is what anybody can see from outside; what its files hold is not looked at. */
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

/** The ids of each group follow in their order. */
const FIRST_REFUSAL = 22;
const FIRST_CALL = FIRST_REFUSAL + INVALID_BUNDLES.length;
const FIRST_MOUNT = FIRST_CALL + CTB_CALLS.length;

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

/** What the API server and kubelets owe the bundles: Kubernetes 1.37's own tests. */
export const CTB_UPSTREAM: readonly Case<CtbSnapshot>[] = [
  ...group(FIRST_REFUSAL, INVALID_BUNDLES, REFUSED, ({ invalidBundles: refusals }) => refusals),
  ...group(FIRST_CALL, CTB_CALLS, CALLED, ({ calls }) => calls),
  ...group(FIRST_MOUNT, MOUNTS, MOUNTED, (snapshot) => snapshot.mounts),
];
