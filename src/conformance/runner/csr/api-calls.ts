// SPDX-License-Identifier: Apache-2.0
import type { CertificateSigningRequest } from '#api/request/csr.ts';
import type { CsrCall } from '#conformance/csr/snapshot.ts';
import { selfSignedCertificate } from '#conformance/self-signed.ts';
import { NO_NAMES } from '#conformance/observed-request.ts';
import { encodePem } from '#pki/der/pem.ts';
import { encodeRequest } from '#pki/x509/encode-request.ts';
import { generatePrivateKey } from '#pki/keys/private-key.ts';
import { HOUR_SECONDS } from '../plans.ts';
import type { Run } from '../run.ts';
import type { Recorder } from '../recorder.ts';
import { resourceCalls, untilWatched, type ResourceCalls } from '../resource-steps.ts';
import { check, type ApiStep } from '../steps.ts';
import { REQUESTS } from './requests.ts';

const DNS_NAME = 'conformance.example.com';

/** The number of requests in upstream's test. */
const COUNT = 3;

type Csr = CertificateSigningRequest;

/** The common state of the steps. `uid` is that of the first request, once it is created. */
interface CallContext {
  readonly run: Run;
  readonly recorder: Recorder<Csr>;
  readonly calls: ResourceCalls<Csr>;
  readonly template: Template;
  readonly fieldSelector: string;
  readonly names: readonly string[];
  readonly name: string;
  uid: string;
}

type Steps<C extends CsrCall> = Readonly<Record<C, ApiStep>>;

/** Returns a step for each call. They build on each other and run in the order of CSR_CALLS. */
export async function callSteps(
  run: Run,
  recorder: Recorder<Csr>,
  signerName: string,
): Promise<Steps<CsrCall>> {
  const names = Array.from({ length: COUNT }, (_, at) => `conformance-${run.id}-operation-${at}`);
  const context: CallContext = {
    run,
    recorder,
    calls: resourceCalls<Csr>(run, REQUESTS),
    template: await templateOf(run, signerName),
    fieldSelector: `spec.signerName=${signerName}`,
    names,
    name: names[0] ?? '',
    uid: '',
  };
  return {
    ...readSteps(context),
    ...writeSteps(context),
    ...subresourceSteps(context),
    ...deletionSteps(context),
  };
}

function readSteps(context: CallContext): Steps<'create' | 'get' | 'list'> {
  const { run, calls, template, names, name } = context;
  return {
    create: async () => {
      const kind = 'CertificateSigningRequest';
      for (const each of names) {
        const { metadata } = await run.created.create<Csr>(REQUESTS, {
          kind,
          metadata: { name: each },
          spec: template.spec,
        });
        if (each === name) context.uid = metadata.uid;
      }
      return `${names.length} requests`;
    },
    get: async () => {
      const found = await calls.get(name);
      const { expirationSeconds } = found.spec;
      check(
        expirationSeconds === HOUR_SECONDS,
        `expirationSeconds is ${expirationSeconds ?? 'not set'}`,
      );
      return checkSame(context, found, 'the request');
    },
    list: () => checkCount(context, COUNT),
  };
}

function writeSteps(context: CallContext): Steps<'patch' | 'update' | 'watch'> {
  const { run, recorder, calls, name } = context;
  return {
    patch: async () => {
      const from = versionOf(await calls.get(name));
      const to = versionOf(await annotate(context, 'patched'));
      check(to > from, `resourceVersion ${from} became ${to}`);
      return `resourceVersion ${from} became ${to}`;
    },
    update: async () => {
      const { metadata, ...before } = await calls.get(name);
      const annotations = { ...metadata.annotations, updated: 'true' };
      annotated(await calls.put({ ...before, metadata: { ...metadata, annotations } }), 'updated');
      return 'the annotation is there';
    },
    watch: async () => {
      // Annotations stay, so the last version has both.
      await untilWatched(run, recorder, ({ metadata: { uid, annotations } }) => {
        return (
          uid === context.uid &&
          ['patched', 'updated'].every((key) => annotations?.[key] === 'true')
        );
      });
      return 'the watch reported both changes';
    },
  };
}

type SubresourceCall = Extract<CsrCall, `${string}Approval` | `${string}Status`>;

function subresourceSteps(context: CallContext): Steps<SubresourceCall> {
  const { calls, name } = context;
  const { certificate } = context.template;
  return {
    getApproval: async () => checkSame(context, await calls.get(name, 'approval'), '/approval'),
    patchApproval: async () => {
      const status = { conditions: [conditionOf('ApprovalPatch')] };
      return hasCondition(
        await annotate(context, 'patchedapproval', { status }, 'approval'),
        'ApprovalPatch',
      );
    },
    updateApproval: () => addCondition(context, 'Approved', 'approval'),
    getStatus: async () => checkSame(context, await calls.get(name, 'status'), '/status'),
    patchStatus: async () => {
      const change = { status: { certificate } };
      const { status } = await annotate(context, 'patchedstatus', change, 'status');
      check(status?.certificate === certificate, 'the certificate is not there');
      return 'the certificate is there';
    },
    updateStatus: () => addCondition(context, 'StatusUpdate', 'status'),
  };
}

function deletionSteps(context: CallContext): Steps<'delete' | 'deleteCollection'> {
  const { calls, name, fieldSelector } = context;
  return {
    delete: async () => {
      await calls.remove(name);
      const status = await calls.status(name);
      check(status === 404, `a deleted request is answered with ${status}`);
      return `404; ${await checkCount(context, COUNT - 1)}`;
    },
    deleteCollection: async () => {
      await calls.removeAll({ fieldSelector });
      return checkCount(context, 0);
    },
  };
}

function checkSame({ uid }: CallContext, found: Csr, where: string): string {
  check(found.kind === 'CertificateSigningRequest', `${where} is a ${found.kind}`);
  check(found.metadata.uid === uid, `${where} is another object`);
  return `${where} of ${found.metadata.name}`;
}

async function checkCount({ calls, fieldSelector }: CallContext, count: number): Promise<string> {
  const { length } = await calls.list({ fieldSelector });
  check(length === count, `${length} items, not ${count}`);
  return `${length} items`;
}

async function annotate(
  { calls, name }: CallContext,
  key: string,
  body: object = {},
  subresource?: string,
): Promise<Csr> {
  const metadata = { annotations: { [key]: 'true' } };
  return annotated(await calls.patch(name, 'mergePatch', { ...body, metadata }, subresource), key);
}

async function addCondition(
  { calls, name }: CallContext,
  type: string,
  subresource: 'approval' | 'status',
): Promise<string> {
  const before = await calls.get(name, subresource);
  const conditions = [...(before.status?.conditions ?? []), conditionOf(type)];
  const status = { ...before.status, conditions };
  return hasCondition(await calls.put({ ...before, status }, subresource), type);
}

interface Template {
  readonly spec: Csr['spec'];
  /** A certificate of the request's key in the form of a signer: base64 of PEM. */
  readonly certificate: string;
}

async function templateOf(run: Run, signerName: string): Promise<Template> {
  const { key } = await generatePrivateKey('ECDSAP256');
  const names = { ...NO_NAMES, commonName: DNS_NAME, dnsNames: [DNS_NAME] };
  const der = encodeRequest({ subject: { ...names, organizationalUnits: [] }, sans: names, key });
  const now = run.clock();
  const certificate = selfSignedCertificate({
    commonName: DNS_NAME,
    isCa: false,
    key,
    notBefore: now - 60_000,
    notAfter: now + HOUR_SECONDS * 1000,
    random: run.random,
  });
  const request = Buffer.from(encodePem('CERTIFICATE REQUEST', der)).toString('base64');
  const usages = ['digital signature', 'key encipherment', 'server auth'];
  return {
    spec: { request, signerName, expirationSeconds: HOUR_SECONDS, usages },
    certificate: Buffer.from(certificate).toString('base64'),
  };
}

function conditionOf(type: string): NonNullable<NonNullable<Csr['status']>['conditions']>[number] {
  return { type, status: 'True', reason: 'Conformance', message: 'by the runner' };
}

function hasCondition({ status }: Csr, type: string): string {
  const types = (status?.conditions ?? []).map((each) => each.type);
  check(types.includes(type), `${type} is not there`);
  return types.join(', ');
}

function annotated(csr: Csr, key: string): Csr {
  check(csr.metadata.annotations?.[key] === 'true', 'the annotation is not there');
  return csr;
}

function versionOf({ metadata }: Csr): number {
  return Number(metadata.resourceVersion);
}
