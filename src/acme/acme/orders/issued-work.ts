// SPDX-License-Identifier: Apache-2.0
import { revokeIssued } from '#acme/issuing/index.ts';
import { heldRevocation, nextRevocationStep } from '#acme/orders/index.ts';
import type { RevocationBefore, OrderRevocation } from '#acme/orders/revocation.ts';
import { changed, timeOf, toWrite } from '#acme/orders/status.ts';
import { ORDERS, REVOKE_ANNOTATION } from '#api/acme/names.ts';
import type { Order } from '#api/acme/order.ts';
import { keyOf } from '#api/object/object.ts';
import { resource } from '#kube/resource/resource.ts';
import type { ReconcileResult } from '#kube/workqueue/run-loop.ts';
import type { Certificate } from '#pki/x509/certificate.ts';
import { requeueAt, serverTime } from '#component/server-time.ts';
import { callRight, type AcmeContext } from '../context.ts';
import { eventOfRevocation } from '../store/events.ts';
import type { Term } from '../store/leader-state.ts';
import { statusChanged, writeStatus } from '../store/write-status.ts';
import * as messages from '../messages.ts';

const PATHS = resource(ORDERS);

/** An Order whose certificate the annotation concerns. */
interface RevocableOrder {
  readonly context: AcmeContext;
  readonly term: Term;
  readonly order: Order;
  readonly leaf: Certificate;
}

/** Has the certificate of an Order revoked if the annotation requests it. */
export async function reconcileRevocation(issued: RevocableOrder): Promise<ReconcileResult> {
  const { context, order, leaf } = issued;
  const { component } = context;
  const status = order.status.revocation;
  const requested = order.metadata.annotations?.[REVOKE_ANNOTATION];
  const view = { status, requested, notAfter: leaf.notAfter };
  const step = nextRevocationStep(view, serverTime(component));
  if (step.step === 'wait') return requeueAt(component, step.until);
  const after =
    step.step === 'note' ? step.status : await revoke(issued, { status, asked: step.asked });
  await write(context, order, after);
  const until = after?.state === 'pending' ? timeOf(after.nextAttemptAt) : undefined;
  return until === undefined ? undefined : requeueAt(component, until);
}

/**
 * Requests the revocation. After a lost answer or a failed status write it repeats the call. The CA
 * then reports a revoked certificate.
 */
async function revoke(
  { context, term, order, leaf }: RevocableOrder,
  of: Pick<RevocationBefore, 'status' | 'asked'>,
): Promise<OrderRevocation> {
  const { metadata, spec } = order;
  const signer = { signerRef: spec.signerRef, namespace: metadata.namespace ?? '' };
  const right = callRight(context, term, signer, serverTime(context.component));
  if ('deferral' in right) return heldRevocation(of, right.deferral);
  return revokeIssued(right.session, leaf, {
    ...of,
    uid: metadata.uid,
    get now() {
      return serverTime(context.component);
    },
  });
}

async function write(
  { component, orders }: Pick<AcmeContext, 'component' | 'orders'>,
  before: Order,
  after: OrderRevocation | undefined,
): Promise<void> {
  const revocation = after && toWrite(after);
  const status = changed(before.status, { revocation });
  if (!statusChanged(before.status, status)) return;
  const written = await writeStatus(component, PATHS, { ...before, status });
  orders.applyWrite(written);
  const event = eventOfRevocation(written, before.status.revocation);
  if (event !== undefined) component.events.record(event);
  const { state, reason } = after ?? { state: 'none', reason: undefined };
  component.log.info({ order: keyOf(before.metadata), state, reason }, messages.REVOCATION_CHANGED);
}
