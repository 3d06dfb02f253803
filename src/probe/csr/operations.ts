// SPDX-License-Identifier: Apache-2.0
import type { CertificateSigningRequest } from '../../api/csr.ts';
import { CSR_OPERATIONS, type CsrOperation } from '../../conformance/csr/world.ts';
import { selfSigned } from '../../conformance/own-certificate.ts';
import { NO_NAMES } from '../../conformance/trial.ts';
import type { Operation } from '../../conformance/world.ts';
import { KubeError } from '../../kube/kube-error.ts';
import { encodePem } from '../../pki/pem.ts';
import { encodeRequest } from '../../pki/pkcs10.ts';
import { generatePrivateKey } from '../../pki/private-key.ts';
import { discoverGroup, discoverGroups, discoverResources } from '../discovery-steps.ts';
import { until, type Kit } from '../kit.ts';
import { record, type Recorder } from '../recorder.ts';
import { may, maySigner } from '../rights.ts';
import { check, take, takeSteps, type Step } from '../steps.ts';
import { REQUESTS } from './requests.ts';

const VERBS = ['create', 'get', 'list', 'watch', 'patch', 'update', 'delete', 'deletecollection'];
const HOUR = 3600;
const DNS_NAME = 'conformance.example.com';

type Csr = CertificateSigningRequest;

/** Upstream's calls of the API, on a signer name that nobody else has. */
export async function csrOperations(kit: Kit): Promise<Readonly<Record<CsrOperation, Operation>>> {
  const signerName = `conformance-${kit.run}.example.com/operations`;
  const plural = REQUESTS.plural;
  const discovery = {
    discoveryGroups: await take(discoverGroups(kit)),
    discoveryGroup: await take(discoverGroup(kit)),
    discoveryResources: await take(
      discoverResources(kit, [plural, `${plural}/approval`, `${plural}/status`]),
    ),
  };
  const lacking = await kit.rights.lacking(
    may(VERBS, plural),
    may(['get', 'patch', 'update'], `${plural}/approval`),
    may(['get', 'patch', 'update'], `${plural}/status`),
    maySigner('approve', signerName),
    maySigner('sign', signerName),
  );
  const rest = CSR_OPERATIONS.slice(3);
  if (lacking !== undefined) {
    return { ...all(rest.map((name) => [name, { skipped: lacking }])), ...discovery };
  }
  const fieldSelector = `spec.signerName=${signerName}`;
  const recorder = await record<Csr>(kit, { resource: REQUESTS, fieldSelector, mayWatch: true });
  try {
    const calls = await stepsOf(kit, recorder, signerName);
    return { ...(await takeSteps(CSR_OPERATIONS.slice(3), calls)), ...discovery };
  } finally {
    await recorder.stop();
  }
}

function all(
  entries: readonly (readonly [CsrOperation, Operation])[],
): Readonly<Record<CsrOperation, Operation>> {
  return Object.fromEntries(entries) as Readonly<Record<CsrOperation, Operation>>;
}

async function stepsOf(
  kit: Kit,
  recorder: Recorder<Csr>,
  signerName: string,
): Promise<Readonly<Record<CsrOperation, Step>>> {
  const { key } = await generatePrivateKey('ECDSAP256');
  const names = { ...NO_NAMES, commonName: DNS_NAME, dnsNames: [DNS_NAME] };
  const der = encodeRequest({ subject: { ...names, organizationalUnits: [] }, sans: names, key });
  const request = Buffer.from(encodePem('CERTIFICATE REQUEST', der)).toString('base64');
  const now = kit.clock();
  const certificate = Buffer.from(
    selfSigned({
      commonName: DNS_NAME,
      isCa: false,
      key,
      notBefore: now - 60_000,
      notAfter: now + HOUR * 1000,
      random: kit.random,
    }),
  ).toString('base64');
  const usages = ['digital signature', 'key encipherment', 'server auth'];
  const spec = { request, signerName, expirationSeconds: HOUR, usages };
  const made: Csr[] = [];
  const name = (): string => made.at(-1)?.metadata.name ?? '';
  const path = (subresource?: string): string => REQUESTS.object({ name: name() }, subresource);
  const read = (subresource?: string): Promise<Csr> =>
    kit.client.request({ method: 'GET', path: path(subresource) });
  const write = (body: Csr, subresource?: string): Promise<Csr> =>
    kit.client.request({ method: 'PUT', path: path(subresource), body });
  const merge = (body: unknown, subresource?: string): Promise<Csr> =>
    kit.client.request({
      method: 'PATCH',
      path: path(subresource),
      body,
      contentType: 'application/merge-patch+json',
    });
  const list = async (): Promise<readonly Csr[]> => {
    const query = { fieldSelector: `spec.signerName=${signerName}` };
    const found = await kit.client.request<{ items?: readonly Csr[] | null }>({
      method: 'GET',
      path: REQUESTS.collection(),
      query,
    });
    return found.items ?? [];
  };
  const isSame = (found: Csr, where: string): string => {
    check(found.kind === 'CertificateSigningRequest', `${where} is a ${found.kind}`);
    check(found.metadata.uid === made.at(-1)?.metadata.uid, `${where} is another object`);
    return `${where} of ${found.metadata.name}`;
  };
  const conditions = (csr: Csr): readonly string[] =>
    (csr.status?.conditions ?? []).map(({ type }) => type);
  const unused = (): Promise<string> => Promise.resolve('');
  return {
    discoveryGroups: unused,
    discoveryGroup: unused,
    discoveryResources: unused,
    create: async () => {
      for (const index of [1, 2, 3]) {
        const metadata = { name: `conformance-${kit.run}-operation-${index}` };
        made.push(
          await kit.own.create<Csr>(REQUESTS, {
            kind: 'CertificateSigningRequest',
            metadata,
            spec,
          }),
        );
      }
      return `${made.length} requests`;
    },
    get: async () => {
      const found = await read();
      check(
        found.spec.expirationSeconds === HOUR,
        `expirationSeconds is ${found.spec.expirationSeconds ?? 'not set'}`,
      );
      return isSame(found, 'the request');
    },
    list: async () => {
      const { length } = await list();
      check(length === 3, `${length} items`);
      return '3 items';
    },
    patch: async () => {
      const before = await read();
      const after = await merge({ metadata: { annotations: { patched: 'true' } } });
      check(after.metadata.annotations?.['patched'] === 'true', 'the annotation is not there');
      const [from, to] = [before, after].map(({ metadata }) => Number(metadata.resourceVersion));
      check((to ?? 0) > (from ?? 0), `resourceVersion ${from ?? ''} became ${to ?? ''}`);
      return `resourceVersion ${from ?? ''} became ${to ?? ''}`;
    },
    update: async () => {
      const before = await read();
      const annotations = { ...before.metadata.annotations, updated: 'true' };
      const after = await write({ ...before, metadata: { ...before.metadata, annotations } });
      check(after.metadata.annotations?.['updated'] === 'true', 'the annotation is not there');
      return 'the annotation is there';
    },
    watch: async () => {
      const uid = made.at(-1)?.metadata.uid ?? '';
      const told = (key: string): boolean =>
        recorder
          .versionsOf(uid)
          .some(({ object }) => object.metadata.annotations?.[key] === 'true');
      const both = await until(kit, () => told('patched') && told('updated'), kit.timeoutMs);
      check(both, 'the watch did not tell of both changes');
      return 'the watch told of both changes';
    },
    getApproval: async () => isSame(await read('approval'), '/approval'),
    patchApproval: async () => {
      const status = {
        conditions: [{ type: 'ApprovalPatch', status: 'True', reason: 'Conformance' }],
      };
      const after = await merge(
        { metadata: { annotations: { patchedapproval: 'true' } }, status },
        'approval',
      );
      check(conditions(after).includes('ApprovalPatch'), 'the condition is not there');
      check(
        after.metadata.annotations?.['patchedapproval'] === 'true',
        'the annotation is not there',
      );
      return conditions(after).join(', ');
    },
    updateApproval: async () => {
      const before = await read('approval');
      const approved = {
        type: 'Approved',
        status: 'True',
        reason: 'Conformance',
        message: 'by the kit',
      } as const;
      const status = {
        ...before.status,
        conditions: [...(before.status?.conditions ?? []), approved],
      };
      const after = await write({ ...before, status }, 'approval');
      check(conditions(after).includes('Approved'), 'Approved is not there');
      return conditions(after).join(', ');
    },
    getStatus: async () => isSame(await read('status'), '/status'),
    patchStatus: async () => {
      const metadata = { annotations: { patchedstatus: 'true' } };
      const after = await merge({ metadata, status: { certificate } }, 'status');
      check(after.status?.certificate === certificate, 'the certificate is not there');
      check(
        after.metadata.annotations?.['patchedstatus'] === 'true',
        'the annotation is not there',
      );
      return 'the certificate is there';
    },
    updateStatus: async () => {
      const before = await read('status');
      const updated = {
        type: 'StatusUpdate',
        status: 'True',
        reason: 'Conformance',
        message: 'by the kit',
      } as const;
      const status = {
        ...before.status,
        conditions: [...(before.status?.conditions ?? []), updated],
      };
      const after = await write({ ...before, status }, 'status');
      check(conditions(after).includes('StatusUpdate'), 'the condition is not there');
      return conditions(after).join(', ');
    },
    delete: async () => {
      await kit.client.request({ method: 'DELETE', path: path() });
      const status = await read().then(
        () => 200,
        (error: unknown) => (error instanceof KubeError ? error.status : 0),
      );
      check(status === 404, `a deleted request is answered with ${status}`);
      const { length } = await list();
      check(length === 2, `${length} are left`);
      return 'gone; 2 are left';
    },
    deleteCollection: async () => {
      const query = { fieldSelector: `spec.signerName=${signerName}` };
      await kit.client.request({ method: 'DELETE', path: REQUESTS.collection(), query });
      const { length } = await list();
      check(length === 0, `${length} are left`);
      return 'none is left';
    },
  };
}
