import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import type { Language } from "@/lib/boot";
import { useOwnerBackend, type OwnerBackend } from "@/lib/backend";
import { callFunction } from "@/lib/call-function";
import type { CalendarFeed } from "@/lib/types";

// This file fetches, makes, replaces and removes the owner's calendar: the promised dates of commissions (works that clients order),
// at a secret URL for calendar programs.

/** The key of the calendar in the query cache. */
const CALENDAR_KEY = ["calendar-feed"] as const;

/** A change of the secret URL. `language` is the language of the calendar's texts. */
type CalendarAction = { action: "create" | "replace"; language: Language } | { action: "remove" };

/**
 * Calls the server's function calendar-feed and returns the calendar from its response. `body` is a CalendarAction, or an empty
 * object to change nothing.
 */
async function callCalendar(backend: OwnerBackend, body: object, signal?: AbortSignal) {
  const { calendar } = await callFunction<{ calendar: CalendarFeed | null }>(
    backend,
    "calendar-feed",
    body,
    signal,
  );
  return calendar;
}

/** Fetches the calendar of the owner's account. The result is null if there is no calendar. */
export function useCalendarFeed() {
  const backend = useOwnerBackend();
  return useQuery({
    queryKey: CALENDAR_KEY,
    staleTime: 0,
    gcTime: 0, // removes the secret URL from the cache when the owner leaves the page
    queryFn: ({ signal }) => callCalendar(backend, {}, signal),
  });
}

/** Makes, replaces or removes the secret URL of the calendar. */
export function useCalendarAction() {
  const backend = useOwnerBackend();
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: (action: CalendarAction) => callCalendar(backend, action),
    onSuccess: (calendar) => queryClient.setQueryData(CALENDAR_KEY, calendar),
  });
}
