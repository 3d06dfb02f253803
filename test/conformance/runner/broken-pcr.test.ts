// SPDX-License-Identifier: Apache-2.0
/**
 * The runner, on a cluster without kubelets, beside a signer of PodCertificateRequests that is
 * careless in places.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PodCertificateRequest } from '#api/request/pod-certificate-request.ts';
import { formatTime } from '#api/object/time.ts';
import { NO_NAMES, type RequestedLeaf } from '#conformance/observed-request.ts';
import { decodeRequest, type CertificationRequest } from '#pki/x509/pkcs10.ts';
import { EVALUATE } from '#conformance/runner/index.ts';
import { askedIn } from '../../support/conformance/requested-in.ts';
import { NOW, leaf, type Parts } from '../../support/conformance/leaf.ts';
import type { MemoryCluster, React } from '../../support/conformance/memory-cluster.ts';
import { NAMESPACE, memoryRun, scenarioOf } from '../../support/conformance/memory-run.ts';

const SIGNER = 'example.com/careless';
const DAY = 24 * 3600;
const HOUR_MS = 3600_000;
const USAGES = ['digital signature', 'client auth', 'server auth'];

type Status = NonNullable<PodCertificateRequest['status']>;
type Sign = (requested: RequestedLeaf, stub: CertificationRequest) => Status | undefined;

function condition(type: string, reason: string): NonNullable<Status['conditions']>[number] {
  const lastTransitionTime = formatTime(NOW);
  return { type, status: 'True', reason, message: 'as it is', lastTransitionTime };
}

function issued(requested: RequestedLeaf, parts: Parts = {}): Status {
  const { pem, certificate } = leaf(requested, parts);
  const { notBefore, notAfter } = certificate;
  return {
    conditions: [condition('Issued', 'Issued')],
    certificateChain: pem,
    notBefore: formatTime(notBefore),
    notAfter: formatTime(notAfter),
    beginRefreshAt: formatTime((notBefore + notAfter) / 2),
  };
}

const denied =
  (reason: string): Sign =>
  () => ({ conditions: [condition('Denied', reason)] });
/** Takes names and extensions of the stub into the leaf. */
const copies: Sign = (requested, stub) => {
  const { names } = askedIn(stub, {});
  const types = new Set(stub.extensions.map(({ oid }) => oid));
  const extensions: Parts['extensions'] = (good) => [
    ...good.filter(({ oid }) => !types.has(oid)),
    ...stub.extensions,
  ];
  return issued(
    { ...requested, names: { ...names, uris: [...requested.names.uris, ...names.uris] } },
    { extensions },
  );
};

/** What it does wrong, by scenario. */
const ODD: Readonly<Record<string, Sign>> = {
  plain: (requested) => ({
    ...issued(requested),
    conditions: [condition('Issued', 'Issued'), condition('Signed', 'Signed')],
    beginRefreshAt: formatTime(NOW + HOUR_MS),
  }),
  again: () => undefined,
  labelled: denied('NotAllowed'),
  nolifetime: (requested) => issued({ ...requested, lifetimeSeconds: DAY / 2 }),
  days91: (requested) => issued({ ...requested, lifetimeSeconds: 91 * DAY }),
  stubsubject: copies,
  stubnames: copies,
  stubauthority: copies,
  stubunknown: copies,
  unknownannotation: denied('NotAllowed'),
  foreignpath: (requested) =>
    issued({ ...requested, names: { ...NO_NAMES, uris: ['spiffe://a/ns/kube-system/sa/forged'] } }),
  rsa3072: denied('NotAllowed'),
  rsa4096: denied('UnsupportedKeyType'),
  ed25519: () => undefined,
};

const EXPECTED = [
  // Two conditions; for another signer; an object's labels in the way; a second key left waiting.
  'PCR-02',
  'PCR-04',
  'PCR-09',
  'PCR-10',
  // The refresh at the end; half a day for a day, and 91 days.
  'PCR-19',
  'PCR-24',
  'PCR-25',
  // What a stub says gets into leaves, and is not denied; nor is an annotation, for the right
  // reason.
  'PCR-43',
  'PCR-44',
  'PCR-45',
  'PCR-46',
  'PCR-47',
  'PCR-48',
  'PCR-49',
  // Denied for another reason than the API's; left unanswered.
  'PCR-51',
  'PCR-56',
];

const signer =
  (cluster: MemoryCluster): React =>
  (path, object) => {
    const request = object as unknown as PodCertificateRequest;
    const scenario = scenarioOf(request);
    const { signerName, stubPKCS10Request, maxExpirationSeconds } = request.spec;
    if (signerName !== SIGNER && scenario !== 'foreign') return;
    const stub = decodeRequest(Buffer.from(stubPKCS10Request ?? '', 'base64'));
    const uris = [`spiffe://a/ns/${NAMESPACE}/sa/${request.spec.serviceAccountName}`];
    const requested: RequestedLeaf = {
      ...askedIn(stub, { usages: USAGES, names: { ...NO_NAMES, uris } }),
      lifetimeSeconds: Math.min(maxExpirationSeconds ?? DAY, DAY),
    };
    const sign: Sign = ODD[scenario] ?? ((what) => issued(what));
    const status = sign(requested, stub);
    if (status !== undefined) cluster.write(path, () => ({ status }));
  };

test('the runner finds exactly the faults of a signer of PodCertificateRequests', async () => {
  const { run } = memoryRun(SIGNER, signer);
  const results = await EVALUATE.pcr(run);
  const failed = results.filter(({ outcome }) => outcome === 'fail');
  assert.deepEqual(
    failed.map(({ id }) => id),
    EXPECTED,
    failed.map(({ id, evidence }) => `${id} ${evidence}`).join('\n'),
  );
  const ofPods = results.find(({ id }) => id === 'PCR-21');
  assert.deepEqual([ofPods?.outcome, ofPods?.evidence.slice(0, 6)], ['skip', 'needs:']);
});
