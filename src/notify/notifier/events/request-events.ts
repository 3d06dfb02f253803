// SPDX-License-Identifier: Apache-2.0
import { keyOf } from '#api/object/object.ts';
import { formatTime } from '#api/object/time.ts';
import type { EventData, Occurrence } from './event.ts';
import type { SeenCertificate, SeenRequest } from './seen-request.ts';

/** Returns the event about the result of a request, or undefined before it has one. */
export function endOccurrence(request: SeenRequest, signerName: string): Occurrence | undefined {
  const { end, metadata } = request;
  if (end === undefined) return undefined;
  const { stage, at, reason, message } = end;
  const name = `certificate.${stage}` as const;
  const why = stage === 'issued' ? {} : { reason, message };
  return {
    name,
    id: `${metadata.uid}:${stage}`,
    subject: subjectOf(request),
    at,
    data: { ...dataOf(request, signerName), ...why },
  };
}

/** Returns the event about a certificate that was not renewed in time. */
export function expiringOccurrence(
  request: SeenRequest,
  signerName: string,
  at: number,
): Occurrence {
  const id = `${request.metadata.uid}:expiring`;
  const data = dataOf(request, signerName);
  return { name: 'certificate.expiring', id, subject: subjectOf(request), at, data };
}

function subjectOf({ plural, metadata }: SeenRequest): string {
  return `${plural}/${keyOf(metadata)}`;
}

function dataOf(request: SeenRequest, signerName: string): EventData {
  const { kind, metadata, about, certificate } = request;
  const { namespace, name, uid } = metadata;
  return {
    kind,
    namespace,
    name,
    uid,
    signerName,
    ...about,
    ...(certificate === undefined ? {} : { certificate: certificateData(certificate) }),
  };
}

function certificateData(certificate: SeenCertificate): EventData {
  const { fingerprint, serialNumber, notBefore, notAfter, beginRefreshAt } = certificate;
  return {
    fingerprint,
    serialNumber,
    notBefore: formatTime(notBefore),
    notAfter: formatTime(notAfter),
    ...(beginRefreshAt === undefined ? {} : { beginRefreshAt: formatTime(beginRefreshAt) }),
  };
}
