// SPDX-License-Identifier: Apache-2.0
import type { KeyObject } from 'node:crypto';
import type { PodCertificateRequest } from '#api/request/pod-certificate-request.ts';
import { formatTime } from '#api/object/time.ts';
import { selfSignedCertificate } from '#conformance/self-signed.ts';
import { PCR_CALLS, type PcrCall } from '#conformance/pcr/snapshot.ts';
import type { Discovery, Operation, Patch } from '#conformance/snapshot.ts';
import { generatePrivateKey } from '#pki/keys/private-key.ts';
import { discover } from '../discovery-steps.ts';
import { startRecorder, type Recorder } from '../recorder.ts';
import { patchSteps, resourceCalls, untilWatched, type ResourceCalls } from '../resource-steps.ts';
import { ALL_VERBS, certificatesRule, signerRule } from '../permissions.ts';
import { check, skipSteps, runSteps, type ApiStep } from '../steps.ts';
import { stubOf } from './plans.ts';
import { inventedPod } from './requester.ts';
import type { PcrRun } from './run.ts';
import { runSignerName } from '../run.ts';

type Pcr = PodCertificateRequest;

const LABEL = 'conformance.countersign.dev/test';
const HOUR_MS = 3600_000;

/** The common state of the steps. */
interface CallContext {
  readonly pcr: Pick<PcrRun, 'run' | 'requests'>;
  readonly recorder: Recorder<Pcr>;
  readonly calls: ResourceCalls<Pcr>;
  readonly key: KeyObject;
  readonly signerName: string;
  readonly fieldSelector: string;
  /** The name of the first request. */
  readonly name: string;
}

type Steps<C extends PcrCall> = Readonly<Record<C, ApiStep>>;

/** Makes upstream's calls of the API, on a signer name that only this run uses. */
export async function pcrOperations({
  run,
  requests,
}: PcrRun): Promise<Readonly<Record<Discovery | PcrCall, Operation>>> {
  const { plural } = requests;
  const signerName = runSignerName(run, 'operations');
  const discovery = await discover(run, requests, ['status']);
  const missing = await run.permissions.missing(
    certificatesRule(ALL_VERBS, plural, run.namespace),
    certificatesRule(['get', 'patch', 'update'], `${plural}/status`, run.namespace),
    signerRule('sign', signerName),
  );
  if (missing !== undefined) return { ...skipSteps(PCR_CALLS, missing), ...discovery };
  const fieldSelector = `spec.signerName=${signerName}`;
  const { namespace } = run;
  const recorder = await startRecorder<Pcr>(run, {
    resource: requests,
    namespace,
    fieldSelector,
    mayWatch: true,
  });
  try {
    const { key } = await generatePrivateKey('ECDSAP256');
    const context: CallContext = {
      pcr: { run, requests },
      recorder,
      calls: resourceCalls<Pcr>(run, requests, namespace),
      key,
      signerName,
      fieldSelector,
      name: `conformance-${run.id}-operation`,
    };
    const steps = { ...objectSteps(context), ...statusSteps(context), ...deletionSteps(context) };
    return { ...(await runSteps(PCR_CALLS, steps)), ...discovery };
  } finally {
    await recorder.stop();
  }
}

function objectSteps(
  context: CallContext,
): Steps<'create' | 'read' | 'listAndWatch' | 'update' | Patch> {
  const { pcr, recorder, calls, fieldSelector, name } = context;
  return {
    create: async () => `uid ${(await create(context, name)).metadata.uid}`,
    read: () => checkSame(context),
    listAndWatch: async () => {
      const { length } = await calls.list({ fieldSelector });
      check(length === 1, `${length} items`);
      await untilWatched(pcr.run, recorder, ({ metadata }) => metadata.name === name);
      return 'one item, and the watch reported it';
    },
    update: async () => {
      const before = await calls.get(name);
      const labels = { ...before.metadata.labels, [LABEL]: 'update' };
      return hasLabel(
        await calls.put({ ...before, metadata: { ...before.metadata, labels } }),
        'update',
      );
    },
    ...patchSteps(async (how) => {
      const body = patchOf(pcr.requests.apiVersion, name, how);
      return hasLabel(await calls.patch(name, how, body), how.toLowerCase());
    }),
  };
}

function statusSteps(context: CallContext): Steps<'readStatus' | 'updateStatus' | StatusPatch> {
  const { pcr, calls, key } = context;
  const status = statusOf(pcr.run, key);
  return {
    readStatus: () => checkSame(context, 'status'),
    updateStatus: () =>
      issue(context, 'update', (made) => calls.put({ ...made, status }, 'status')),
    ...statusPatches((how) =>
      issue(context, how, ({ metadata, apiVersion, kind }) => {
        const whole = { apiVersion, kind, metadata: { name: metadata.name }, status };
        const pointers = Object.entries(status).map(([field, value]) => ({
          op: 'add',
          path: `/status/${field}`,
          value,
        }));
        const bodies: Partial<Record<Patch, object>> = { applyPatch: whole, jsonPatch: pointers };
        return calls.patch(metadata.name, how, bodies[how] ?? { status }, 'status');
      }),
    ),
  };
}

function deletionSteps({
  calls,
  fieldSelector,
  name,
}: CallContext): Steps<'delete' | 'deleteCollection'> {
  return {
    delete: async () => {
      await calls.remove(name);
      const found = await calls.status(name);
      check(found === 404, `a deleted request is answered with ${found}`);
      return '404';
    },
    deleteCollection: async () => {
      await calls.removeAll({ fieldSelector });
      const { length } = await calls.list({ fieldSelector });
      check(length === 0, `${length} are left`);
      return 'none is left';
    },
  };
}

function create({ pcr, signerName, key }: CallContext, name: string): Promise<Pcr> {
  const { run, requests } = pcr;
  return run.created.create<Pcr>(requests, {
    kind: 'PodCertificateRequest',
    metadata: { name, namespace: run.namespace },
    spec: specOf(run, signerName, stubOf(key).toString('base64')),
  });
}

async function issue(
  context: CallContext,
  how: string,
  write: (made: Pcr) => Promise<Pcr>,
): Promise<string> {
  const after = await write(await create(context, `${context.name}-${how.toLowerCase()}`));
  const type = after.status?.conditions?.[0]?.type ?? 'without condition';
  check(type === 'Issued' && after.status?.certificateChain !== undefined, `it is ${type}`);
  return `it is ${type}`;
}

async function checkSame({ calls, name }: CallContext, subresource?: string): Promise<string> {
  const { kind, metadata } = await calls.get(name, subresource);
  check(kind === 'PodCertificateRequest' && metadata.name === name, `a ${kind} ${metadata.name}`);
  return `${kind} ${metadata.name}`;
}

function hasLabel(found: Pcr, value: string): string {
  check(found.metadata.labels?.[LABEL] === value, 'the label is not there');
  return `the label is ${value}`;
}

function specOf(run: PcrRun['run'], signerName: string, stub: string): object {
  return {
    signerName,
    ...inventedPod(run),
    maxExpirationSeconds: 86_400,
    stubPKCS10Request: stub,
  };
}

/** Returns the status that a signer would write: valid since a minute, for an hour. */
function statusOf(
  run: PcrRun['run'],
  key: Parameters<typeof selfSignedCertificate>[0]['key'],
): NonNullable<Pcr['status']> {
  const now = Math.floor((run.clock() - run.client.clockOffset()) / 1000) * 1000;
  const notBefore = now - 60_000;
  const notAfter = notBefore + HOUR_MS;
  const { random } = run;
  const commonName = 'conformance.example.com';
  return {
    certificateChain: selfSignedCertificate({
      commonName,
      isCa: false,
      key,
      notBefore,
      notAfter,
      random,
    }),
    notBefore: formatTime(notBefore),
    notAfter: formatTime(notAfter),
    beginRefreshAt: formatTime(notBefore + HOUR_MS / 4),
    conditions: [
      {
        type: 'Issued',
        status: 'True',
        reason: 'Conformance',
        message: 'by countersign conformance',
        lastTransitionTime: formatTime(now),
      },
    ],
  };
}

function patchOf(apiVersion: string, name: string, how: Patch): unknown {
  const value = how.toLowerCase();
  if (how === 'jsonPatch') {
    const pointer = LABEL.replaceAll('~', '~0').replaceAll('/', '~1');
    return [{ op: 'add', path: `/metadata/labels/${pointer}`, value }];
  }
  const metadata = { name, labels: { [LABEL]: value } };
  return { apiVersion, kind: 'PodCertificateRequest', metadata };
}

type StatusPatch = Extract<PcrCall, `${string}PatchStatus`>;

function statusPatches(
  run: (how: Patch) => Promise<string>,
): Readonly<Record<StatusPatch, ApiStep>> {
  const steps = patchSteps(run);
  return {
    applyPatchStatus: steps.applyPatch,
    strategicPatchStatus: steps.strategicPatch,
    mergePatchStatus: steps.mergePatch,
    jsonPatchStatus: steps.jsonPatch,
  };
}
