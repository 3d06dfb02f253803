// SPDX-License-Identifier: Apache-2.0
/** The kind FleetMember. Only a hub has it, so `fleet join` applies it. */
import {
  FLEET_MEMBERS,
  MAX_REPORTED_ANCHORS,
  MAX_REPORTED_TEXT,
  MAX_REPORTED_VERSION,
} from '#api/signer/fleet-member.ts';
import { MAX_SIGNER_NAME } from '#api/signer/signer-name.ts';
import { LABELS } from '../names.ts';
import type { Manifest } from '../roles.ts';

const { group, version, plural } = FLEET_MEMBERS;

/** Length of `sha256:` and 64 digits. */
const FINGERPRINT_LENGTH = 71;

const FINGERPRINT = {
  type: 'string',
  maxLength: FINGERPRINT_LENGTH,
  pattern: '^sha256:[0-9a-f]{64}$',
};

/**
 * The API server accepts any text behind the time of a `date-time`. RFC 3339 in UTC, as Kubernetes
 * writes it.
 */
const TIME = {
  type: 'string',
  format: 'date-time',
  maxLength: 30,
  pattern: String.raw`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z$`,
};

const STATUS = {
  type: 'object',
  description: 'The report of the member, which only the member writes.',
  properties: {
    reportedAt: { ...TIME, description: 'Time of the report, by the clock of the member.' },
    version: {
      type: 'string',
      maxLength: MAX_REPORTED_VERSION,
      description: 'Version of Countersign on the member.',
    },
    authority: {
      type: 'object',
      description: 'The CA that signs on the member.',
      required: ['fingerprint', 'notAfter'],
      properties: {
        fingerprint: { ...FINGERPRINT, description: 'sha256:<hexadecimal digits> of the CA.' },
        notAfter: { ...TIME, description: 'Expiry of the CA.' },
      },
    },
    anchors: {
      type: 'array',
      description: 'Fingerprints of the trust anchors in the bundle of the member.',
      maxItems: MAX_REPORTED_ANCHORS,
      'x-kubernetes-list-type': 'atomic',
      items: FINGERPRINT,
    },
    waitsFor: {
      type: 'string',
      maxLength: MAX_REPORTED_TEXT,
      description: 'The problem of its signer, or what it waits for. Absent if there is none.',
    },
  },
};

const SCHEMA = {
  type: 'object',
  description:
    'A FleetMember is a cluster whose CA this cluster signs. countersign fleet join creates it.',
  required: ['spec'],
  properties: {
    apiVersion: { type: 'string', description: `${group}/${version}.` },
    kind: { type: 'string', description: 'FleetMember.' },
    metadata: { type: 'object' },
    spec: {
      type: 'object',
      required: ['signerName'],
      properties: {
        signerName: {
          type: 'string',
          description: 'The signer of this cluster that signs the CA of the member.',
          minLength: 1,
          maxLength: MAX_SIGNER_NAME,
        },
      },
    },
    status: STATUS,
  },
};

const COLUMNS = [
  { name: 'Signer', type: 'string', jsonPath: '.spec.signerName' },
  { name: 'Expires', type: 'date', jsonPath: '.status.authority.notAfter' },
  { name: 'Reported', type: 'date', jsonPath: '.status.reportedAt' },
  { name: 'Version', type: 'string', jsonPath: '.status.version' },
  { name: 'Waits for', type: 'string', priority: 1, jsonPath: '.status.waitsFor' },
];

/** Returns the CustomResourceDefinition of FleetMember. */
export function memberDefinition(): Manifest {
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}`, labels: LABELS },
    spec: {
      group,
      scope: 'Namespaced',
      names: {
        kind: 'FleetMember',
        listKind: 'FleetMemberList',
        plural,
        singular: 'fleetmember',
        categories: ['countersign'],
      },
      versions: [
        {
          name: version,
          served: true,
          storage: true,
          subresources: { status: {} },
          additionalPrinterColumns: COLUMNS,
          schema: { openAPIV3Schema: SCHEMA },
        },
      ],
    },
  };
}
