// SPDX-License-Identifier: Apache-2.0
import type { VNode } from 'preact';
import { messageOf } from '#base/errors.ts';
import { KubeError } from '#kube/client/kube-error.ts';
import { el } from './element.ts';

/** The reason of a page without content, and the fix. */
export interface PageFault {
  readonly status: 403 | 404 | 500 | 502 | 503;
  readonly title: string;
  readonly why: string;
  readonly remedy: string;
}

/** Returns the fault of an error, as the person can fix it. */
export function faultOf(error: unknown): PageFault {
  const why = messageOf(error);
  const status = error instanceof KubeError ? error.status : undefined;
  if (status === 0 || (status !== undefined && status >= 500)) {
    const remedy = 'Check the connection and the API server, then reload this page.';
    return { status: 503, title: 'The API server does not answer', why, remedy };
  }
  if (status === 401) {
    const remedy =
      'Your credentials have expired or were revoked. Log in again with the method of your kubeconfig, then reload this page.';
    return { status: 502, title: 'The API server rejects your credentials', why, remedy };
  }
  if (status === 403) {
    const remedy = 'Have an administrator grant the permission that the message names.';
    return { status: 403, title: 'You lack a permission', why, remedy };
  }
  const remedy = 'Reload this page, or run countersign check.';
  return { status: 500, title: 'This page cannot be shown', why, remedy };
}

/** Returns the fault of an error as one text. */
export function faultText(error: unknown): string {
  const { title, why, remedy } = faultOf(error);
  return `${title}: ${why}. ${remedy}`;
}

/** Returns the fault of a write as one text. Without an answer, the write may have arrived. */
export function writeFailureText(error: unknown): string {
  const { status, title, why } = faultOf(error);
  const remedy =
    status === 403
      ? 'Nothing was written. Have an administrator grant the permission that the message names.'
      : 'The API server may have written it. Look at the object before you repeat the action.';
  return `${title}: ${why}. ${remedy}`;
}

/** Returns the content of a page without its data. */
export function faultView({ why, remedy }: PageFault): VNode {
  return el('div', { class: 'fault', role: 'alert' }, el('p', {}, why), el('p', {}, remedy));
}
