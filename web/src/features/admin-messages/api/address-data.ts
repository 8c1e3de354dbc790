import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useOwnerBackend, type OwnerBackend } from "@/lib/backend";
import { callFunction } from "@/lib/call-function";
import { messageKeys } from "@/lib/message-keys";
import { refetch } from "@/lib/refetch";
import { saveFile } from "@/lib/save-file";

// This file has the requests about an email address: the owner looks up, exports or erases everything that the site stores about it.

/** The places where data about an email address can be stored, by the names that the server uses in its response. */
type AddressPlace =
  | "messages"
  | "quarantine"
  | "notices" // mails and webhook requests to the owners about messages
  | "revisions" // rows as they were before a change or a deletion
  | "activity" // the log of who did what
  | "sign_ins"
  | "accounts"
  | "queued_mails" // mails that are not sent yet
  | "filed_mails"; // mails that the server stored as files

/** How much is stored about an email address. After erasing, how much was erased. */
export type AddressData = {
  address: string;
  /** How many entries (rows, jobs or files) about the address each place has. */
  places: { name: AddressPlace; count: number }[];
  /** Whether the site's settings contain the address. They are not among `places`. */
  settings: boolean;
};

/** The error of a request that the server refuses (HTTP 409), because the address belongs to an account with a role, such as an owner's. */
export class AddressHasRoleError extends Error {}

/**
 * Calls the server's function for data about an email address.
 *
 * @throws AddressHasRoleError
 */
async function callAddressData<Result>(
  backend: OwnerBackend,
  action: "find" | "export" | "erase",
  address: string,
): Promise<Result> {
  try {
    return await callFunction<Result>(backend, "address-data", { action, address });
  } catch (error) {
    // callFunction throws an error whose cause is the error of supabase-js. `context` of that error is the response.
    const response = ((error as Error).cause as { context?: unknown } | undefined)?.context;
    if (response instanceof Response && response.status === 409)
      throw new AddressHasRoleError((error as Error).message, { cause: error });
    throw error;
  }
}

/** Looks up what is stored about an address. It is a mutation, so that the query cache does not keep the response. */
export function useFindAddress() {
  const backend = useOwnerBackend();
  return useMutation({
    mutationFn: (address: string) => callAddressData<AddressData>(backend, "find", address),
  });
}

/** Saves a file with everything that is stored about an address. */
export function useExportAddress() {
  const backend = useOwnerBackend();
  return useMutation({
    mutationFn: async (address: string) => {
      const data = await callAddressData<Blob>(backend, "export", address);
      saveFile(data, `address-${new Date().toISOString().slice(0, 10)}.json`);
    },
  });
}

/** Erases everything that is stored about an address, and refetches the lists of messages. */
export function useEraseAddress() {
  const backend = useOwnerBackend();
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: (address: string) => callAddressData<AddressData>(backend, "erase", address),
    onSettled: () =>
      Promise.all([
        refetch(queryClient, messageKeys.quarantine),
        refetch(queryClient, messageKeys.all),
      ]),
  });
}
