// SPDX-License-Identifier: Apache-2.0
import { createMonitor } from '#ledger/ledger/monitor/index.ts';
import type { UnrecordedCertificate } from '#ledger/ledger/monitor/unrecorded.ts';
import type { StoredRecord } from '#ledger/store/search.ts';
import { encodePem } from '#pki/der/pem.ts';
import { fingerprint } from '#pki/x509/certificate.ts';
import { recordedComponent, type RecordedComponent } from '../component/recorded-component.ts';
import { fakeTime, type FakeTime } from '../kube/fake-time.ts';
import { memoryApi, type MemoryApi, type Thing } from '../kube/memory-api.ts';
import { certificateDer, named, type CertificateDer } from '../pki/certificate-der.ts';
import { ca, link, NOW, usage, type Link } from '../pki/chain.ts';
import { workload } from '../signers/workload-profile.ts';
import { PREFIX, SENDER } from './records.ts';

/** The CA of ClusterSigner `workload`, whose key was stolen. */
export const OURS = link('Example CA', { extensions: [ca(), usage()] });

/** A certificate that the stolen key has signed. */
export function stolen(serial: number, parts: CertificateDer = {}): Uint8Array {
  const issuer = named(OURS.name);
  return certificateDer({ serial: Uint8Array.of(2, 1, serial), issuer, key: OURS.key, ...parts });
}

const FINDINGS = '/api/v1/namespaces/countersign-system/configmaps/countersign-ledger-findings';
const CSRS = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
const SIGNER = '/apis/countersign.dev/v1alpha1/clustersigners/workload';

/** A monitor in an API server in memory, with a ledger that has the record of the CA alone. */
export interface Monitored {
  readonly api: MemoryApi;
  readonly time: FakeTime;
  readonly component: RecordedComponent;
  readonly state: { leads: boolean; isAway: boolean };
  /** Fingerprints that the ledger was asked for, in order. */
  readonly asked: readonly string[];
  /** Puts a CertificateSigningRequest with these certificates. */
  readonly request: (name: string, ...ders: readonly Uint8Array[]) => void;
  readonly remove: (name: string) => void;
  readonly findings: () => readonly UnrecordedCertificate[];
  readonly warnings: () => readonly string[];
  readonly stop: () => Promise<void>;
}

/**
 * @param data - the findings of an earlier monitor
 * @param gaps - the records of gaps, in a ledger that has always been there
 */
export function monitored(
  leads = true,
  data: Record<string, string> = {},
  gaps: readonly StoredRecord[] = [],
): Monitored {
  const [api, time] = [memoryApi(), fakeTime(NOW)];
  const state = { leads, isAway: false };
  const asked: string[] = [];
  const client: MemoryApi['client'] = {
    ...api.client,
    request: async <T>(request: Parameters<typeof api.client.request>[0]) => {
      if (request.path !== FINDINGS) return api.client.request<T>(request);
      if (request.method === 'PATCH') Object.assign(data, dataOf(request.body));
      return { data } as T;
    },
  };
  const { clock, delay } = time;
  const component = recordedComponent({ client, clock, delay });
  const store = {
    find: ({ kinds }: { kinds?: readonly string[] | undefined }) =>
      Promise.resolve({ records: kinds?.includes('authority') === true ? [recordOf(OURS)] : gaps }),
    after: () => Promise.resolve(gaps),
    recorded: (prints: readonly string[]) => {
      if (state.isAway) return Promise.reject(new Error('the database is away'));
      asked.push(...prints);
      return Promise.resolve([]);
    },
  };
  const print = fingerprint(OURS.certificate.raw);
  const authorities = [{ fingerprint: print, phase: 'Active', longestLeaf: '1h' }];
  api.put(SIGNER, { ...workload(), status: { authorities } });
  const monitor = createMonitor({
    component,
    store,
    namespace: 'countersign-system',
    unrecordedGraceSeconds: 60,
    podCertificateRequests: undefined,
    secrets: [],
    leads: () => state.leads,
  });
  const stopping = new AbortController();
  const running = monitor.run(stopping.signal);
  return {
    api,
    time,
    component,
    state,
    asked,
    request: (name, ...ders) => api.put(`${CSRS}/${name}`, csr(name, ders)),
    remove: (name) => {
      api.remove(`${CSRS}/${name}`);
    },
    findings: () => Object.values(data).map((text) => JSON.parse(text) as UnrecordedCertificate),
    warnings: monitor.warnings,
    stop: async () => {
      stopping.abort();
      await running;
    },
  };
}

function dataOf(body: unknown): unknown {
  return typeof body === 'object' && body !== null && 'data' in body ? body.data : {};
}

function csr(name: string, ders: readonly Uint8Array[]): Thing {
  const pem = ders.map((der) => encodePem('CERTIFICATE', der)).join('');
  const certificate = Buffer.from(pem).toString('base64');
  return {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: { name, uid: name, resourceVersion: '', creationTimestamp: '2026-06-01T00:00:00Z' },
    status: { certificate },
  };
}

/** The stored record of a CA. */
export function recordOf({ certificate: { raw } }: Link): StoredRecord {
  const at = new Date(NOW).toISOString();
  const record = {
    kind: 'authority',
    key: 'authority/1',
    at,
    component: { name: 'authority', version: '0.1.0', replica: 'authority-0' },
    purpose: 'ca',
    signer: {
      name: 'example.com/workload',
      kind: 'ClusterSigner',
      object: { name: 'workload', uid: 'signer-uid' },
      generation: 3,
    },
    certificate: Buffer.from(raw).toString('base64'),
    ca: fingerprint(raw),
  };
  const body = Buffer.from(JSON.stringify({ appended: { at, by: SENDER }, record }));
  return { id: 1, log: 1, index: 0, salt: Buffer.from(PREFIX), body };
}

/** The stored record of a gap that lost one record within the last hour. */
export function gapRecord(): StoredRecord {
  const at = new Date(NOW).toISOString();
  const record = {
    kind: 'gap',
    key: 'signer/gap/1',
    at,
    component: { name: 'signer', version: '0.1.0', replica: 'signer-0' },
    lost: 1,
    from: new Date(NOW - 3_600_000).toISOString(),
    to: at,
  };
  const body = Buffer.from(JSON.stringify({ appended: { at, by: SENDER }, record }));
  return { id: 9, log: 1, index: 8, salt: Buffer.from(PREFIX), body };
}
