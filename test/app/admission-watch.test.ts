// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createAdmissionWatch, type AdmissionWatch } from '#app/admission-watch.ts';
import { permissions } from '#requests/pcr-issuer/permissions.ts';
import { KubeError } from '#kube/client/kube-error.ts';
import {
  recordedComponent,
  type RecordedComponent,
} from '../support/component/recorded-component.ts';
import { printedAdmission } from '../support/install/printed-admission.ts';

const PODS = 'countersign-pod-certificate-requests';
const EVENTS = 'countersign-events';
const METADATA = 'countersign-component-metadata';
const SIGNERS = 'countersign-cluster-signers';

interface Stage {
  readonly component: RecordedComponent;
  readonly counts: Map<string, number>;
  readonly watch: AdmissionWatch;
  /** What the API server has, by kind and name. */
  readonly objects: Map<string, unknown>;
  /** Lets the watch look, and lets so many seconds pass. */
  readonly lookFor: (seconds: number) => Promise<void>;
}

/** The watch of a pcr-issuer in a cluster with what is printed for the demo. */
function stage(signerNames: readonly string[] = ['example.com/workload']): Stage {
  const objects = new Map<string, unknown>(
    [...printedAdmission()].flatMap(([name, { policy, binding }]) => [
      [`validatingadmissionpolicies/${name}`, policy],
      [`validatingadmissionpolicybindings/${name}`, binding],
    ]),
  );
  let left = 0;
  let stop = new AbortController();
  const component = recordedComponent({
    delay: () => {
      left -= 1;
      if (left <= 0) stop.abort();
      return Promise.resolve();
    },
  });
  component.client.answer(({ method, path }) => {
    assert.equal(method, 'GET');
    const found = objects.get(path.split('/').slice(-2).join('/'));
    if (found instanceof Error) throw found;
    if (found !== undefined) return found;
    throw new KubeError({ status: 404, what: 'GET policy', body: { reason: 'NotFound' } });
  });
  const counts = new Map<string, number>();
  const names = { signerNames, bundles: [], secrets: [] };
  const watch = createAdmissionWatch({
    ...component,
    permissions: () => permissions(names),
    namespace: 'countersign-system',
    secretNamespace: 'countersign-keys',
    onDifferences: (policy, count) => counts.set(policy, count),
  });
  const lookFor = async (seconds: number): Promise<void> => {
    left = seconds;
    stop = new AbortController();
    await watch.run(stop.signal);
  };
  return { component, counts, watch, objects, lookFor };
}

test('reads each policy of the role by its name; printed policies give no warning', async () => {
  const { component, counts, watch, lookFor } = stage();
  await lookFor(1);
  assert.deepEqual(watch.warnings(), []);
  assert.deepEqual(
    [...counts],
    [
      [SIGNERS, 0],
      [PODS, 0],
      [METADATA, 0],
      [EVENTS, 0],
    ],
  );
  assert.equal(component.client.requests.length, 8);
  assert.deepEqual(component.notes, []);
});

test('a missing policy is one warning, log line, metric and Event; heals in 30 s', async () => {
  const { component, counts, watch, objects, lookFor } = stage();
  const policy = objects.get(`validatingadmissionpolicies/${SIGNERS}`);
  objects.delete(`validatingadmissionpolicies/${SIGNERS}`);
  await lookFor(60);
  const [warning = ''] = watch.warnings();
  assert.match(
    warning,
    /^ValidatingAdmissionPolicy countersign-cluster-signers is not installed: .*sign and attest.*countersign rbac/,
  );
  assert.equal(counts.get(SIGNERS), 1);
  assert.deepEqual(
    component.log.lines.map(({ message }) => message),
    [warning],
  );
  const [event, ...more] = component.notes;
  assert.deepEqual(more, []);
  assert.equal(event?.reason, 'AdmissionPolicyDiffers');
  assert.deepEqual(event.regarding, {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingAdmissionPolicy',
    name: SIGNERS,
  });
  objects.set(`validatingadmissionpolicies/${SIGNERS}`, policy);
  await lookFor(31);
  assert.deepEqual(watch.warnings(), []);
  assert.equal(counts.get(SIGNERS), 0);
});

test('a policy that may not be read is a warning without an Event, and hides no other', async () => {
  const { component, watch, objects, lookFor } = stage();
  objects.set(
    `validatingadmissionpolicies/${SIGNERS}`,
    new KubeError({ status: 403, what: 'GET policy', body: { reason: 'Forbidden' } }),
  );
  objects.delete(`validatingadmissionpolicybindings/${PODS}`);
  await lookFor(1);
  const [unread = '', unbound = ''] = watch.warnings();
  assert.match(unread, /^cannot check admission policy countersign-cluster-signers: /);
  assert.match(unbound, /Binding countersign-pod-certificate-requests is not installed/);
  assert.deepEqual(
    component.notes.map(({ regarding }) => regarding.name),
    [PODS],
  );
});

test('while nothing is served, the policy of PodCertificateRequests is not read', async () => {
  const { component, lookFor } = stage([]);
  await lookFor(1);
  assert.deepEqual(
    component.client.requests.map(({ path }) => path.includes(PODS)),
    [false, false, false, false, false, false],
  );
});
