// SPDX-License-Identifier: Apache-2.0

/** Addresses of pages, below the base of the console. */

export const providerPath = (uuid: string): string => `/providers/${encodeURIComponent(uuid)}`;
export const consumerPath = (uuid: string): string => `/consumers/${encodeURIComponent(uuid)}`;
export const projectPath = (id: string): string => `/projects/${encodeURIComponent(id)}`;

/** A part of a path as it was before `encodeURIComponent`; as it is if it cannot be decoded. */
export function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
