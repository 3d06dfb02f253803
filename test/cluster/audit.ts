// SPDX-License-Identifier: Apache-2.0
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The part of audit.k8s.io/v1 Event that tests look at. */
export interface AuditEvent {
  readonly auditID: string;
  /** ResponseStarted (of watches), ResponseComplete or Panic. */
  readonly stage: string;
  readonly verb: string;
  readonly requestURI: string;
  readonly user: { readonly username: string; readonly uid?: string; readonly groups?: string[] };
  readonly impersonatedUser?: { readonly username: string };
  readonly userAgent?: string;
  readonly objectRef?: {
    readonly resource?: string;
    readonly namespace?: string;
    readonly name?: string;
    readonly apiGroup?: string;
    readonly apiVersion?: string;
    readonly subresource?: string;
    readonly uid?: string;
  };
  readonly responseStatus?: { readonly code?: number; readonly reason?: string };
  readonly requestReceivedTimestamp: string;
  readonly stageTimestamp: string;
}

const policy = {
  apiVersion: 'audit.k8s.io/v1',
  kind: 'Policy',
  // An event for a request that is still under way would be counted twice.
  omitStages: ['RequestReceived'],
  rules: [{ level: 'Metadata' }],
};

export function auditLogOf(directory: string): string {
  return join(directory, 'audit.log');
}

/** Writes the policy and answers with the flags of kube-apiserver that put it in force. */
export function auditFlags(directory: string): string[] {
  const file = join(directory, 'audit-policy.json');
  writeFileSync(file, JSON.stringify(policy));
  return [
    `--audit-policy-file=${file}`,
    `--audit-log-path=${auditLogOf(directory)}`,
    // Never rotated: a test reads the whole of it.
    '--audit-log-maxsize=100000',
  ];
}

export function readAuditLog(directory: string): AuditEvent[] {
  const file = auditLogOf(directory);
  if (!existsSync(file)) return [];
  // What follows the last line feed is still being written.
  const lines = readFileSync(file, 'utf8').split('\n').slice(0, -1);
  return lines.map((line) => JSON.parse(line) as AuditEvent);
}
