import { Navigate, Outlet, useLocation } from "react-router";
import { AdminWaiting } from "@/features/admin-shell/components/admin-waiting";
import { useAuth } from "@/lib/auth";
import type { ReturnState } from "@/lib/return-path";

/**
 * The one guard around every admin route; the pages hold no check and the server refuses regardless.
 * It decides only once session and role are known, so a reload never throws the owner out.
 */
export function AdminGuard() {
  const { loading, session, role, awaitedFactors } = useAuth();
  const { pathname, search } = useLocation();
  if (loading) return <AdminWaiting />;
  if (!session || awaitedFactors.length > 0) {
    const state: ReturnState = { from: pathname + search };
    return <Navigate to="/admin/auth" state={state} replace />;
  }
  if (role !== "admin") return <Navigate to="/" replace />;
  return <Outlet />;
}
