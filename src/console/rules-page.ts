// SPDX-License-Identifier: Apache-2.0
import {
  CERTIFICATE_REQUEST_RESOURCE,
  withSpec,
  type CertificateRequest,
} from '#api/request/certificate-request.ts';
import { namedIssuer } from '#api/acme/named-issuer.ts';
import { CSR_RESOURCE, type CertificateSigningRequest } from '#api/request/csr.ts';
import type { PodCertificateRequest } from '#api/request/pod-certificate-request.ts';
import type { KubeObject } from '#api/object/object.ts';
import type { ClusterSigner } from '#api/signer/cluster-signer.ts';
import { messageOf } from '#base/errors.ts';
import { membersOf } from '#base/record.ts';
import { certificatesResourceIfServed } from '#component/certificates-resources.ts';
import { EvaluationDeferred } from '#component/signers/evaluation-errors.ts';
import type { Client } from '#kube/client/client.ts';
import { KubeError } from '#kube/client/kube-error.ts';
import { resource, type Resource } from '#kube/resource/resource.ts';
import type { JudgedSample, RulesResults } from './pages/rules.ts';
import type { ConsoleInit } from './readings.ts';
import type { ReadRules, ReplayResult, SampleRequest, SampleVerdict } from './rules-engine.ts';
import { faultText } from './views/fault.ts';

/** Samples of each kind: more do not fit beside the text. */
const SAMPLES_A_KIND = 12;
/**
 * Objects of one request to the API server, of which the newest are samples. The page reads them
 * again while a person types, so it does not read all pages of a large cluster.
 */
const LISTED = 100;
/** Longest wait for the budget while a person types. */
const TYPED_WAIT_MS = 2_000;

const CSRS = resource(CSR_RESOURCE);
const CERTIFICATE_REQUESTS = resource(CERTIFICATE_REQUEST_RESOURCE);

/** Sample requests of one signer, and the kinds that are missing or cut. */
interface Samples {
  readonly samples: readonly SampleRequest[];
  readonly notes: readonly string[];
}

type RulesPageInit = Pick<ConsoleInit, 'client' | 'delay' | 'rules'>;

/**
 * Judges the samples of a signer by the rules of a text, beside the rules of the cluster.
 *
 * @param replays - true to judge the records of the last week as well
 */
export async function judgeRules(
  init: RulesPageInit,
  signer: ClusterSigner,
  { yaml, replays }: { readonly yaml: string; readonly replays: boolean },
): Promise<RulesResults> {
  const { rules } = init;
  let typed: ReadRules;
  try {
    typed = await patiently(init, () => rules.read(yaml));
  } catch (error) {
    return { fault: ruleFault(error), samples: [], notes: [] };
  }
  const { signerName } = signer.spec;
  if (typed.signerName !== signerName) {
    const fault = `spec.signerName is ${typed.signerName}: the samples are requests to ${signerName}`;
    return { fault, samples: [], notes: [] };
  }
  const current = await patiently(init, () => rules.read(rules.yamlOf(signer)));
  const { samples, notes } = await readSamples(init.client, signer);
  const judged: JudgedSample[] = [];
  for (const sample of samples) {
    judged.push({
      ...describe(sample),
      current: await verdictOf(init, current, sample),
      typed: await verdictOf(init, typed, sample),
    });
  }
  const replay = replays ? await replayOf(typed) : undefined;
  return { samples: judged, notes, ...(replay === undefined ? {} : { replay }) };
}

async function replayOf(rules: ReadRules): Promise<ReplayResult | string> {
  try {
    return await rules.replay();
  } catch (error) {
    return error instanceof KubeError ? faultText(error) : ruleFault(error);
  }
}

/** Works again when the budget allows it, for a short time. */
async function patiently<T>(
  { delay }: Pick<ConsoleInit, 'delay'>,
  work: () => Promise<T>,
): Promise<T> {
  for (let waitedMs = 0; ;) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof EvaluationDeferred)) throw error;
      waitedMs += error.waitMs;
      if (waitedMs > TYPED_WAIT_MS) throw error;
      await delay(error.waitMs);
    }
  }
}

async function verdictOf(
  init: RulesPageInit,
  rules: ReadRules,
  sample: SampleRequest,
): Promise<SampleVerdict> {
  try {
    return await patiently(init, () => rules.judge(sample));
  } catch (error) {
    return { word: 'UNKNOWN', message: ruleFault(error) };
  }
}

function ruleFault(error: unknown): string {
  return error instanceof EvaluationDeferred
    ? 'the rules have used the CPU time of this session: simplify them, or try again in a few seconds'
    : messageOf(error);
}

function describe({
  kind,
  object,
}: SampleRequest): Pick<JudgedSample, 'subject' | 'namespace' | 'requester'> {
  const { name, namespace = '' } = object.metadata;
  const { username, podName } = membersOf(membersOf(object)['spec']);
  const requester = typeof podName === 'string' ? `pod ${podName}` : `user ${String(username)}`;
  return { subject: `${kind}/${name}`, namespace, requester };
}

async function readSamples(client: Client, signer: ClusterSigner): Promise<Samples> {
  const { metadata, spec } = signer;
  const fieldSelector = `spec.signerName=${spec.signerName}`;
  const [csrs, pcrs, requests] = await Promise.all([
    visible(CSRS.plural, () => newest<CertificateSigningRequest>(client, CSRS, fieldSelector)),
    visible('podcertificaterequests', async () => {
      const pods = await certificatesResourceIfServed(client, 'podcertificaterequests');
      return pods === undefined ? NONE : newest<PodCertificateRequest>(client, pods, fieldSelector);
    }),
    visible(CERTIFICATE_REQUESTS.plural, () =>
      spec.certificateRequests === undefined
        ? Promise.resolve(NONE)
        : newest<CertificateRequest>(client, CERTIFICATE_REQUESTS, undefined),
    ),
  ]);
  const own = requests.found.map(withSpec).filter(({ spec: { issuerRef } }) => {
    const { signerKind, name } = namedIssuer(issuerRef);
    return signerKind === 'ClusterSigner' && name === metadata.name;
  });
  const samples: readonly (readonly SampleRequest[])[] = [
    csrs.found.map((each) => ({
      kind: 'csr',
      object: { ...each, kind: 'CertificateSigningRequest' },
    })),
    pcrs.found.map((each) => ({
      kind: 'pcr',
      object: { ...each, kind: 'PodCertificateRequest' },
    })),
    own.map((each) => ({
      kind: 'certificaterequest',
      object: { ...each, kind: 'CertificateRequest' },
    })),
  ];
  return {
    samples: samples.flatMap((all) => all.slice(0, SAMPLES_A_KIND)),
    notes: [csrs, pcrs, requests].flatMap(({ note }) => note ?? []),
  };
}

/** Objects of a kind, and why they are not all. */
interface Visible<T> {
  readonly found: readonly T[];
  readonly note?: string;
}

const NONE = { found: [] } as const;

async function visible<T>(plural: string, read: () => Promise<Visible<T>>): Promise<Visible<T>> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof KubeError) || ![403, 404].includes(error.status)) throw error;
    return { found: [], note: `${plural}: ${error.message}` };
  }
}

interface FirstPage<T> {
  readonly metadata: { readonly continue?: string };
  readonly items: readonly T[];
}

/** Returns objects of a kind, the newest first. They have no `kind`. */
async function newest<T extends KubeObject>(
  client: Client,
  of: Resource,
  fieldSelector: string | undefined,
): Promise<Visible<T>> {
  const { metadata, items } = await client.request<FirstPage<T>>({
    method: 'GET',
    path: of.collection(),
    query: { limit: LISTED, fieldSelector },
  });
  const found = items.toSorted(newestFirst);
  const { continue: next = '' } = metadata;
  if (next === '') return { found };
  const note = `${of.plural}: the page reads the first ${LISTED} by namespace and name, so newer ones may be missing`;
  return { found, note };
}

function newestFirst({ metadata: a }: KubeObject, { metadata: b }: KubeObject): number {
  return Date.parse(b.creationTimestamp) - Date.parse(a.creationTimestamp);
}
