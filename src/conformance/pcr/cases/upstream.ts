// SPDX-License-Identifier: Apache-2.0
import { must, type Case } from '../../case.ts';
import { e2e } from '../../sources.ts';
import { onOperation } from '../../snapshot.ts';
import { PCR_OPERATIONS, type PcrOperation, type PcrSnapshot } from '../snapshot.ts';

const volumes = (test: string): string => e2e('projected_podcertificate.go', test);
const API = e2e('podcertificaterequest.go', 'should support PodCertificateRequest API operations');
const MTLS = volumes('should allow server and client pods to establish an mTLS connection');

/** What each call must do, and upstream's own words for it. */
const ASSERTS: Readonly<Record<PcrOperation, readonly [asserts: string, source: string]>> = {
  podStarts: ['a pod with podCertificate and clusterTrustBundle volumes starts', MTLS],
  annotationsArrive: [
    'userAnnotations of the volume arrive in the request unchanged',
    volumes('should honor UserAnnotations for SPIFFE URI path'),
  ],
  mutualTls: [
    'two pods authenticate each other by TLS with their leaves and the published bundle',
    MTLS,
  ],
  tooLong: [
    'a volume that requests more than 91 days is rejected',
    volumes('should reject pod creation when MaxExpirationSeconds exceeds maximum (91d)'),
  ],
  tooShort: [
    'a volume that requests less than an hour is rejected',
    volumes('should reject pod creation when MaxExpirationSeconds is less than minimum (1h)'),
  ],
  discoveryGroups: ['/apis lists certificates.k8s.io with v1', API],
  discoveryGroup: ['/apis/certificates.k8s.io lists v1', API],
  discoveryResources: ['v1 has podcertificaterequests and podcertificaterequests/status', API],
  create: ['a request is created', API],
  read: ['a request is read as it was created', API],
  listAndWatch: ['a list has it, and a watch reports it', API],
  update: ['an update adds a label', API],
  applyPatch: ['an apply patch adds a label', API],
  strategicPatch: ['a strategic merge patch adds a label', API],
  mergePatch: ['a JSON merge patch adds a label', API],
  jsonPatch: ['a JSON patch adds a label', API],
  readStatus: ['/status is read as the request itself', API],
  updateStatus: ['an update of /status issues a request', API],
  applyPatchStatus: ['an apply patch of /status issues a request', API],
  strategicPatchStatus: ['a strategic merge patch of /status issues a request', API],
  mergePatchStatus: ['a JSON merge patch of /status issues a request', API],
  jsonPatchStatus: ['a JSON patch of /status issues a request', API],
  delete: ['a deleted request is gone', API],
  deleteCollection: ['a deleted collection is empty', API],
};

/** The first id of the calls: they follow in their order. */
const FIRST = 57;

/** Kubernetes 1.37's own conformance tests of pod certificates. */
export const PCR_UPSTREAM: readonly Case<PcrSnapshot>[] = PCR_OPERATIONS.map((name, index) =>
  must(`PCR-${FIRST + index}`, ...ASSERTS[name], onOperation<PcrOperation>(name)),
);
