package tables

import "net/http"

// The values of the header Allow for /rest/v1/ and for a table.
const (
	rootMethods  = "OPTIONS,GET,HEAD"
	tableMethods = "OPTIONS,GET,HEAD,POST,PUT,PATCH,DELETE"
)

// Root answers /rest/v1/ itself. PostgREST describes its tables there, or answers that this is disabled, as Root does.
func (s *Service) Root(w http.ResponseWriter, r *http.Request) error {
	switch r.Method {
	case http.MethodGet, http.MethodHead:
		return errNoRoot
	case http.MethodOptions:
		return allow(w, rootMethods)
	}
	w.Header().Set("Allow", rootMethods)
	return errMethod(r.Method)
}

// Options answers OPTIONS /rest/v1/{table} with the methods that exist, whether or not the policy allows them to the caller.
func (s *Service) Options(w http.ResponseWriter, r *http.Request) error {
	if _, err := s.table(w, r); err != nil {
		return err
	}
	return allow(w, tableMethods)
}

// RPCOptions answers OPTIONS /rest/v1/rpc/{function} with the methods of the function. Only functions that do not write allow
// GET.
func (s *Service) RPCOptions(w http.ResponseWriter, r *http.Request) error {
	name := r.PathValue("function")
	if _, ok := functions[name]; !ok {
		return errUnknownFunction(name, nil)
	}
	return allow(w, functionMethods(name))
}

func functionMethods(name string) string {
	if functions[name].readOnly {
		return "OPTIONS,GET,HEAD,POST"
	}
	return "OPTIONS,POST"
}

func allow(w http.ResponseWriter, methods string) error {
	w.Header().Set("Allow", methods)
	w.WriteHeader(http.StatusOK)
	return nil
}

// NoMethod answers methods that tables do not have with an error.
func (s *Service) NoMethod(w http.ResponseWriter, r *http.Request) error {
	w.Header().Set("Allow", tableMethods)
	return errMethod(r.Method)
}

// NoRPCMethod answers methods that functions do not have with an error.
func (s *Service) NoRPCMethod(w http.ResponseWriter, r *http.Request) error {
	w.Header().Set("Allow", functionMethods(r.PathValue("function")))
	return errRPCMethod(r.Method)
}
