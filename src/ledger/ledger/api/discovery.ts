// SPDX-License-Identifier: Apache-2.0
/** Discovery documents of the API (meta/v1 APIGroup, APIResourceList). */
import { LEDGER_API } from '#api/signer/own-tls.ts';
import { json, type ApiAnswer } from './answer.ts';

/** `ledger.countersign.dev/v1alpha1`. */
export const API_VERSION = `${LEDGER_API.group}/${LEDGER_API.version}`;

const VERSION = { groupVersion: API_VERSION, version: LEDGER_API.version };

const GROUP = { name: LEDGER_API.group, versions: [VERSION], preferredVersion: VERSION };

const RESOURCES = {
  kind: 'APIResourceList',
  apiVersion: 'v1',
  groupVersion: API_VERSION,
  resources: [
    {
      name: 'records',
      singularName: 'record',
      namespaced: true,
      kind: 'Record',
      verbs: ['get', 'list'],
    },
    // Records have no verb delete. With it, deleting a namespace would delete the records of its
    // requests.
    {
      name: 'erasures',
      singularName: 'erasure',
      namespaced: true,
      kind: 'Erasure',
      verbs: ['create'],
    },
    { name: 'logs', singularName: 'log', namespaced: false, kind: 'Log', verbs: ['get', 'list'] },
    ...['checkpoint', 'checkpoints', 'tile'].map((subresource) => ({
      name: `logs/${subresource}`,
      singularName: '',
      namespaced: false,
      kind: 'Log',
      verbs: ['get'],
    })),
  ],
};

const DOCUMENTS: Readonly<Record<string, object>> = {
  '/apis': { kind: 'APIGroupList', apiVersion: 'v1', groups: [GROUP] },
  [`/apis/${LEDGER_API.group}`]: { kind: 'APIGroup', apiVersion: 'v1', ...GROUP },
  [`/apis/${API_VERSION}`]: RESOURCES,
};

/** Returns the document at a path, or undefined if there is none. */
export function discovery(path: string): ApiAnswer | undefined {
  const document = DOCUMENTS[path];
  return document === undefined ? undefined : json(200, document);
}
