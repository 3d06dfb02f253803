// SPDX-License-Identifier: Apache-2.0
/** Which requests of a Signer each component watches, and which of them it leaves alone. */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { createApprover } from '#requests/approver/index.ts';
import { createCertificateRequest } from '#requests/certificate-request/index.ts';
import { createPcrIssuer } from '#requests/pcr-issuer/index.ts';
import { createSigner } from '#requests/signer/index.ts';
import { resource } from '#kube/resource/resource.ts';
import type { Component, Controller } from '#component/contract.ts';
import { until } from '../cluster/until.ts';
import { componentOn } from '../requests/loop/controlled.ts';
import { openIntermediate } from '../support/ca/intermediate.ts';
import { namespacedSigner, teamSpec } from '../support/signers/namespaced-signer.ts';
import type { RecordedComponent } from '../support/component/recorded-component.ts';
import type { Call } from '../support/kube/scripted-server.ts';
import {
  PATIENCE_MS,
  bookmark,
  startStage,
  type Stage,
} from '../support/kube/reflector-fixture.ts';

const NAME = 'spec.signerName=signers.countersign.dev/team-a.web';
const OF_CERTIFICATES = { group: 'certificates.k8s.io', version: 'v1' };
const CSRS = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
const bundles = resource({ ...OF_CERTIFICATES, plural: 'clustertrustbundles' });
const requests = resource({ ...OF_CERTIFICATES, plural: 'podcertificaterequests' });

let stage: Stage;
let component: RecordedComponent;
let stop: AbortController;
let running: Promise<void>;
/** Path and field selector of each watch but those of signers. */
let watched: string[];
/** What the watch of CertificateSigningRequests brings. */
let csrs: readonly object[];
let writes: string[];

const rule = { name: 'all', when: 'true', allow: {} };
const signer = namespacedSigner({ ...teamSpec(), certificateRequests: { rules: [rule] } });

/** An API server with one Signer, and cert-manager. */
function serve(call: Call): void {
  const { method, path, query } = call;
  const added = (objects: readonly object[]): readonly object[] =>
    objects.map((object) => ({ type: 'ADDED', object }));
  if (method !== 'GET') writes.push(`${method} ${path}`);
  if (path === '/apis/cert-manager.io/v1') {
    call.answer(200, { resources: [{ name: 'certificaterequests' }] });
  } else if (query.get('watch') !== 'true') {
    call.answer(404, { kind: 'Status', reason: 'NotFound', code: 404 });
  } else if (path.endsWith('/clustersigners')) call.lines(bookmark(9, true));
  else if (path.endsWith('/signers')) call.lines(...added([signer]), bookmark(9, true));
  else {
    watched.push(`${path} ${query.get('fieldSelector') ?? ''}`);
    call.lines(...added(path === CSRS ? csrs : []), bookmark(9, true));
  }
}

beforeEach(async () => {
  stage = await startStage();
  [watched, csrs, writes] = [[], [], []];
  stop = new AbortController();
  stage.server.always(serve);
});
afterEach(async () => {
  stop.abort();
  await running;
  await stage.stop();
});

function begin(make: (component: Component) => Controller): void {
  component = componentOn(stage, { namespacedSigners: true });
  running = make(component).run(stop.signal);
}

const open = (): ReturnType<typeof openIntermediate> => openIntermediate();
const makers: Readonly<Record<string, (component: Component) => Controller>> = {
  approver: createApprover,
  signer: (of) => createSigner({ component: of, bundles, open }),
  'pcr-issuer': (of) =>
    createPcrIssuer({ component: of, requests, legacy: undefined, bundles, open }),
  'certificate-request': (of) => createCertificateRequest({ component: of, bundles, open }),
};
const ISSUER = ['group=countersign.dev', 'kind=Signer', 'name=web']
  .map((term) => `spec.issuerRef.${term}`)
  .join();
const SECRET = '/api/v1/namespaces/team-a/secrets metadata.name=team-ca';
const wanted: Readonly<Record<string, readonly string[]>> = {
  approver: [`${CSRS} ${NAME}`],
  signer: [`${CSRS} ${NAME}`, SECRET],
  'pcr-issuer': [
    `/apis/certificates.k8s.io/v1/namespaces/team-a/podcertificaterequests ${NAME}`,
    SECRET,
  ],
  'certificate-request': [
    `/apis/cert-manager.io/v1/namespaces/team-a/certificaterequests ${ISSUER}`,
    SECRET,
  ],
};

for (const [name, watches] of Object.entries(wanted)) {
  test(`${name} watches requests and Secrets of a Signer in their namespaces only`, async () => {
    const make = makers[name];
    assert.ok(make !== undefined);
    begin(make);
    await until('all is watched', PATIENCE_MS, () => watched.length === watches.length);
    assert.deepEqual(watched.toSorted(), watches.toSorted());
  });
}

for (const [name, approved] of [
  ['approver', false],
  ['signer', true],
] as const) {
  test(`${name} does not answer a request older than its Signer, and records an Event`, async () => {
    const conditions = approved ? [{ type: 'Approved', status: 'True' }] : [];
    const metadata = { name: 'old', uid: 'old', resourceVersion: '5' };
    csrs = [
      {
        apiVersion: 'certificates.k8s.io/v1',
        kind: 'CertificateSigningRequest',
        metadata: { ...metadata, creationTimestamp: '2026-11-21T05:00:00Z' },
        spec: { request: '', signerName: NAME.split('=')[1], usages: [], username: 'jane' },
        status: { conditions },
      },
    ];
    const make = makers[name];
    assert.ok(make !== undefined);
    begin(make);
    await until('it is told', PATIENCE_MS, async () => {
      // What came before the Secret was listed is looked at again a little later.
      await stage.time.advance(50);
      return component.notes.length > 0;
    });
    assert.deepEqual(
      component.notes.map(({ reason, regarding }) => [reason, regarding.name]),
      [['OlderThanSigner', 'old']],
    );
    assert.deepEqual(writes, []);
  });
}
