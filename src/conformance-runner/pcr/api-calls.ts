// SPDX-License-Identifier: Apache-2.0
import type { PodCertificateRequest } from '../../api/request/pod-certificate-request.ts';
import { formatTime } from '../../api/object/time.ts';
import type { Discovery, Patch } from '../../conformance/calls.ts';
import { selfSigned } from '../../conformance/self-signed.ts';
import { PCR_CALLS, type PcrCall } from '../../conformance/pcr/snapshot.ts';
import type { Operation } from '../../conformance/snapshot.ts';
import { generatePrivateKey } from '../../pki/keys/private-key.ts';
import { discover } from '../discovery-steps.ts';
import { ownSigner } from '../own-signer.ts';
import { record } from '../recorder.ts';
import { callsOf, patchSteps, told } from '../resource-steps.ts';
import { ALL_VERBS, may, maySigner } from '../permissions.ts';
import { check, skipSteps, takeSteps, type Step } from '../steps.ts';
import { stubOf } from './plans.ts';
import { uuid } from './requester.ts';
import type { PcrKit } from './run.ts';

type Pcr = PodCertificateRequest;

const LABEL = 'conformance.countersign.dev/test';
const HOUR_MS = 3600_000;

/** Upstream's calls of the API, on a signer name that nobody else has. */
export async function pcrOperations({
  kit,
  requests,
}: PcrKit): Promise<Readonly<Record<Discovery | PcrCall, Operation>>> {
  const { plural } = requests;
  const signerName = ownSigner(kit, 'operations');
  const discovery = await discover(kit, requests, ['status']);
  const lacking = await kit.rights.lacking(
    may(ALL_VERBS, plural, kit.namespace),
    may(['get', 'patch', 'update'], `${plural}/status`, kit.namespace),
    maySigner('sign', signerName),
  );
  if (lacking !== undefined) return { ...skipSteps(PCR_CALLS, lacking), ...discovery };
  const fieldSelector = `spec.signerName=${signerName}`;
  const { namespace } = kit;
  const recorder = await record<Pcr>(kit, {
    resource: requests,
    namespace,
    fieldSelector,
    mayWatch: true,
  });
  try {
    const { key } = await generatePrivateKey('ECDSAP256');
    const calls = callsOf<Pcr>(kit, requests, namespace);
    const first = { name: `conformance-${kit.run}-operation` };
    const isSame = async (subresource?: string): Promise<string> => {
      const { kind, metadata } = await calls.get(first.name, subresource);
      check(
        kind === 'PodCertificateRequest' && metadata.name === first.name,
        `a ${kind} ${metadata.name}`,
      );
      return `${kind} ${metadata.name}`;
    };
    const hasLabel = (found: Pcr, value: string): string => {
      check(found.metadata.labels?.[LABEL] === value, 'the label is not there');
      return `the label says ${value}`;
    };
    const create = (name: string): Promise<Pcr> =>
      kit.own.create<Pcr>(requests, {
        kind: 'PodCertificateRequest',
        metadata: { name, namespace },
        spec: specOf(kit, signerName, stubOf(key).toString('base64')),
      });
    const issue = async (how: string, write: (made: Pcr) => Promise<Pcr>): Promise<string> => {
      const after = await write(await create(`${first.name}-${how.toLowerCase()}`));
      const type = after.status?.conditions?.[0]?.type ?? 'without condition';
      check(type === 'Issued' && after.status?.certificateChain !== undefined, `it is ${type}`);
      return `it is ${type}`;
    };
    const status = statusOf(kit, key);
    const steps: Readonly<Record<PcrCall, Step>> = {
      create: async () => `uid ${(await create(first.name)).metadata.uid}`,
      read: () => isSame(),
      listAndWatch: async () => {
        const { length } = await calls.list({ fieldSelector });
        check(length === 1, `${length} items`);
        await told(kit, recorder, ({ metadata }) => metadata.name === first.name);
        return 'one item, and the watch told of it';
      },
      update: async () => {
        const before = await calls.get(first.name);
        const labels = { ...before.metadata.labels, [LABEL]: 'update' };
        return hasLabel(
          await calls.put({ ...before, metadata: { ...before.metadata, labels } }),
          'update',
        );
      },
      ...patchSteps(async (how) => {
        const body = patchOf(requests.apiVersion, first.name, how);
        return hasLabel(await calls.patch(first.name, how, body), how.toLowerCase());
      }),
      readStatus: () => isSame('status'),
      updateStatus: () => issue('update', (made) => calls.put({ ...made, status }, 'status')),
      ...statusPatches((how) =>
        issue(how, ({ metadata, apiVersion, kind }) => {
          const whole = { apiVersion, kind, metadata: { name: metadata.name }, status };
          const pointers = Object.entries(status).map(([field, value]) => ({
            op: 'add',
            path: `/status/${field}`,
            value,
          }));
          const body = { applyPatch: whole, jsonPatch: pointers }[how as string] ?? { status };
          return calls.patch(metadata.name, how, body, 'status');
        }),
      ),
      delete: async () => {
        await calls.remove(first.name);
        const found = await calls.status(first.name);
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
    return { ...(await takeSteps(PCR_CALLS, steps)), ...discovery };
  } finally {
    await recorder.stop();
  }
}

function specOf(
  { random, serviceAccount, run }: PcrKit['kit'],
  signerName: string,
  stub: string,
): object {
  return {
    signerName,
    podName: `conformance-${run}`,
    podUID: uuid(random(16)),
    serviceAccountName: serviceAccount,
    serviceAccountUID: uuid(random(16)),
    nodeName: 'conformance',
    nodeUID: uuid(random(16)),
    maxExpirationSeconds: 86_400,
    stubPKCS10Request: stub,
  };
}

/** What a signer writes: valid since a minute, for an hour. */
function statusOf(
  kit: PcrKit['kit'],
  key: Parameters<typeof selfSigned>[0]['key'],
): NonNullable<Pcr['status']> {
  const now = Math.floor((kit.clock() - kit.client.clockOffset()) / 1000) * 1000;
  const notBefore = now - 60_000;
  const notAfter = notBefore + HOUR_MS;
  const { random } = kit;
  const commonName = 'conformance.example.com';
  return {
    certificateChain: selfSigned({ commonName, isCa: false, key, notBefore, notAfter, random }),
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

function statusPatches(run: (how: Patch) => Promise<string>): Readonly<Record<StatusPatch, Step>> {
  const steps = patchSteps(run);
  return {
    applyPatchStatus: steps.applyPatch,
    strategicPatchStatus: steps.strategicPatch,
    mergePatchStatus: steps.mergePatch,
    jsonPatchStatus: steps.jsonPatch,
  };
}
