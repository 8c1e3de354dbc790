// The official client, as each role of READING §2 uses it.
import { createClient, type SupabaseClient } from "@supabase/supabase-js";

import type { Server } from "./server.ts";

const options = { auth: { persistSession: false, autoRefreshToken: false } };

export const asAnon = (server: Server): SupabaseClient =>
  createClient(server.url, server.anonKey, options);
export const asService = (server: Server): SupabaseClient =>
  createClient(server.url, server.serviceKey, options);

export const ownerEmail = "owner@example.com";
export const ownerPassword = "a wall of whitewash";

/** Makes an owner by the command line and signs in. */
export async function asOwner(server: Server): Promise<SupabaseClient> {
  await server.command(["owner", "add", ownerEmail, "--password-stdin"], ownerPassword + "\n");
  const client = asAnon(server);
  const { error } = await client.auth.signInWithPassword({
    email: ownerEmail,
    password: ownerPassword,
  });
  if (error) throw error;
  return client;
}
