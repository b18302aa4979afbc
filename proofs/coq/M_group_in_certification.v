(* group_in_certification: what a group does, and certification with it.
   Written by paraply from the model of that name. *)

Require Import Foundation.

Section Model.

Variable Member : Type.
Variable some_Member : Member.
Variable eqb_Member : Member -> Member -> bool.
Hypothesis eqb_Member_true : forall x y, eqb_Member x y = true <-> x = y.

Variable Row : Type.
Variable some_Row : Row.
Variable eqb_Row : Row -> Row -> bool.
Hypothesis eqb_Row_true : forall x y, eqb_Row x y = true <-> x = y.

Variable Txn : Type.
Variable some_Txn : Txn.
Variable eqb_Txn : Txn -> Txn -> bool.
Hypothesis eqb_Txn_true : forall x y, eqb_Txn x y = true <-> x = y.

(* What no step changes. *)
Variable ws : Txn -> Row -> bool.
Variable certifier_last : Txn -> Txn -> bool.

Record state : Type := {
  n : Z;
  in_group : Member -> bool;
  upto : Member -> Z;
  value_ : Member -> Row -> Z;
  begun : Txn -> bool;
  live : Txn -> bool;
  home : Txn -> Member;
  saw : Txn -> Row -> Z;
  sent : Txn -> bool;
  snap : Txn -> Z;
  number : Txn -> Z;
  delivered : Txn -> bool;
  certified : Txn -> bool;
  place : Txn -> Z;
  txn_at : Z -> Txn;
  has : Row -> bool;
  out : Member -> Z;
  arrived : Member -> Z;
  reports : Member -> bool;
  report_number : Member -> Z;
  report_value : Member -> Z;
  reported : Member -> Z;
  stable : Z;
  version : Z -> Row -> Z;
  certifier_snap : Txn -> Txn -> bool;
  certifier_delivered : Txn -> bool;
  certifier_certified : Txn -> bool;
  certifier_before : Txn -> Txn -> bool;
  certifier_stable : Txn -> bool;
  certifier_has : Row -> bool;
  certifier_writer : Row -> Txn;
  certifier_grown : Txn -> bool;
  certifier_purged : Row -> bool;
  certifier_refuser : Txn -> Txn;
  certifier_refused_row : Txn -> Row;
  certifier_chosen : Txn -> bool;
  matched : Prop
}.

Definition init_empty (st : state) : Prop :=
  ((Z.eqb (n st) 0) && (Z.eqb (stable st) 0)) = true.

Definition init_nothing_begun (st : state) : Prop :=
  (forall t : Txn, ((negb (begun st t)) && ((negb (live st t)) && ((negb (sent st t)) && ((negb (delivered st t)) && (negb (certified st t)))))) = true).

Definition init_nothing_applied (st : state) : Prop :=
  (forall m : Member, ((Z.eqb (upto st m) 0) && ((Z.eqb (reported st m) 0) && ((negb (reports st m)) && ((Z.eqb (out st m) 0) && (Z.eqb (arrived st m) 0))))) = true).

Definition init_nothing_written (st : state) : Prop :=
  (forall r : Row, ((Z.eqb (version st 0 r) (-1)) && (negb (has st r))) = true).

Definition init_nothing_stored (st : state) : Prop :=
  (forall m : Member, (forall r : Row, (Z.eqb (value_ st m r) (-1)) = true)).

Definition init_certifier_nothing_delivered (st : state) : Prop :=
  (forall t : Txn, ((negb (certifier_delivered st t)) && ((negb (certifier_certified st t)) && (negb (certifier_stable st t)))) = true).

Definition init_certifier_nothing_is_ordered (st : state) : Prop :=
  (forall t : Txn, (forall u : Txn, (negb (certifier_before st t u)) = true)).

Definition init_certifier_certification_info_is_empty (st : state) : Prop :=
  (forall r : Row, (negb (certifier_has st r)) = true).

Definition init_certifier_nothing_seen (st : state) : Prop :=
  (forall t : Txn, (forall u : Txn, (negb (certifier_snap st t u)) = true)).

Definition init_nothing_to_match (st : state) : Prop :=
  (matched st).

Definition init (st : state) : Prop :=
  init_empty st /\ init_nothing_begun st /\ init_nothing_applied st /\ init_nothing_written st /\ init_nothing_stored st /\ init_certifier_nothing_delivered st /\ init_certifier_nothing_is_ordered st /\ init_certifier_certification_info_is_empty st /\ init_certifier_nothing_seen st /\ init_nothing_to_match st.

(* delivered; no item of its rows is newer than its snapshot *)
Definition guard_certify (st : state) (t : Txn) : Prop :=
  (((sent st t) = true) /\ (((negb (delivered st t)) = true) /\ ((((arrived st (home st t)) <=? (number st t)) = true) /\ (((in_group st (home st t)) = true) /\ (((Z.eqb (arrived st (home st t)) (number st t)) = true) /\ ((forall r : Row, (negb ((ws t r) && ((has st r) && ((snap st t) <=? (version st (n st) r))))) = true))))))).
Definition act_certify (st : state) (t : Txn) : state :=
  {|
     n := ((n st) + 1);
     in_group := in_group st;
     upto := upto st;
     value_ := value_ st;
     begun := begun st;
     live := live st;
     home := home st;
     saw := saw st;
     sent := sent st;
     snap := snap st;
     number := number st;
     delivered := fun (x0 : Txn) => ((delivered st x0) || (eqb_Txn x0 t));
     certified := fun (x0 : Txn) => ((certified st x0) || (eqb_Txn x0 t));
     place := fun (x0 : Txn) => (if (eqb_Txn x0 t) then (n st) else (place st x0));
     txn_at := fun (x0 : Z) => (if (Z.eqb x0 (n st)) then t else (txn_at st x0));
     has := fun (x0 : Row) => ((has st x0) || (ws t x0));
     out := out st;
     arrived := fun (x0 : Member) => (if (eqb_Member x0 (home st t)) then ((arrived st x0) + 1) else (arrived st x0));
     reports := reports st;
     report_number := report_number st;
     report_value := report_value st;
     reported := reported st;
     stable := stable st;
     version := fun (x0 : Z) (x1 : Row) => (if (Z.eqb x0 ((n st) + 1)) then (if (ws t x1) then (n st) else (version st (n st) x1)) else (version st x0 x1));
     certifier_snap := fun (x0 : Txn) (x1 : Txn) => (if (eqb_Txn x0 t) then ((certified st x1) && ((place st x1) <? (snap st t))) else (certifier_snap st x0 x1));
     certifier_delivered := fun (x0 : Txn) => ((certifier_delivered st x0) || (eqb_Txn x0 t));
     certifier_certified := fun (x0 : Txn) => ((certifier_certified st x0) || (eqb_Txn x0 t));
     certifier_before := fun (x0 : Txn) (x1 : Txn) => ((certifier_before st x0 x1) || ((certifier_delivered st x0) && (eqb_Txn x1 t)));
     certifier_stable := certifier_stable st;
     certifier_has := fun (x0 : Row) => ((certifier_has st x0) || (ws t x0));
     certifier_writer := fun (x0 : Row) => (if (ws t x0) then t else (certifier_writer st x0));
     certifier_grown := certifier_grown st;
     certifier_purged := certifier_purged st;
     certifier_refuser := certifier_refuser st;
     certifier_refused_row := certifier_refused_row st;
     certifier_chosen := fun (x0 : Txn) => ((certified st x0) && ((place st x0) <? (snap st t)));
     matched := (((matched st)) /\ (((negb (certifier_delivered st t)) = true) /\ (((((forall u : Txn, (forall w : Txn, ((negb ((certifier_delivered st u) || (eqb_Txn u t))) || (Bool.eqb (if (eqb_Txn u t) then ((certified st w) && ((place st w) <? (snap st t))) else (certifier_snap st u w)) (certifier_last u w))) = true))) -> ((((negb (certifier_delivered st t)) = true) /\ (((negb (certifier_last t t)) = true) /\ (((forall u : Txn, ((negb (certifier_last t u)) || (certifier_certified st u)) = true)) /\ (((forall u : Txn, (forall q : Row, ((negb ((certifier_stable st u) && ((ws t q) && (ws u q)))) || (certifier_last t u)) = true))) /\ ((forall r : Row, ((negb ((ws t r) && (certifier_has st r))) = false -> ((forall u : Txn, ((negb ((certifier_last (certifier_writer st r) u) || (eqb_Txn u (certifier_writer st r)))) || (certifier_last t u)) = true)))))))))))) /\ (((negb (certifier_delivered st t)) = true) /\ (((negb (if true then ((certified st t) && ((place st t) <? (snap st t))) else (certifier_snap st t t))) = true) /\ (((forall u : Txn, ((negb (if true then ((certified st u) && ((place st u) <? (snap st t))) else (certifier_snap st t u))) || (certifier_certified st u)) = true)) /\ (((forall u : Txn, (forall q : Row, ((negb ((certifier_stable st u) && ((ws t q) && (ws u q)))) || (if true then ((certified st u) && ((place st u) <? (snap st t))) else (certifier_snap st t u))) = true))) /\ ((forall r : Row, ((negb ((ws t r) && (certifier_has st r))) = false -> ((forall u : Txn, ((negb ((if (eqb_Txn (certifier_writer st r) t) then ((certified st u) && ((place st u) <? (snap st t))) else (certifier_snap st (certifier_writer st r) u)) || (eqb_Txn u (certifier_writer st r)))) || (if true then ((certified st u) && ((place st u) <? (snap st t))) else (certifier_snap st t u))) = true))))))))))))
  |}.

(* delivered; an item is newer, and the session rolls back *)
Definition guard_refuse (st : state) (t : Txn) (row : Row) : Prop :=
  ((sent st t) && ((negb (delivered st t)) && (((arrived st (home st t)) <=? (number st t)) && ((in_group st (home st t)) && ((Z.eqb (arrived st (home st t)) (number st t)) && ((ws t row) && ((has st row) && ((snap st t) <=? (version st (n st) row))))))))) = true.
Definition act_refuse (st : state) (t : Txn) (row : Row) : state :=
  {|
     n := ((n st) + 1);
     in_group := in_group st;
     upto := upto st;
     value_ := value_ st;
     begun := begun st;
     live := fun (x0 : Txn) => ((live st x0) && (negb (eqb_Txn x0 t)));
     home := home st;
     saw := saw st;
     sent := sent st;
     snap := snap st;
     number := number st;
     delivered := fun (x0 : Txn) => ((delivered st x0) || (eqb_Txn x0 t));
     certified := certified st;
     place := fun (x0 : Txn) => (if (eqb_Txn x0 t) then (n st) else (place st x0));
     txn_at := fun (x0 : Z) => (if (Z.eqb x0 (n st)) then t else (txn_at st x0));
     has := has st;
     out := out st;
     arrived := fun (x0 : Member) => (if (eqb_Member x0 (home st t)) then ((arrived st x0) + 1) else (arrived st x0));
     reports := reports st;
     report_number := report_number st;
     report_value := report_value st;
     reported := reported st;
     stable := stable st;
     version := fun (x0 : Z) (x1 : Row) => (if (Z.eqb x0 ((n st) + 1)) then (version st (n st) x1) else (version st x0 x1));
     certifier_snap := fun (x0 : Txn) (x1 : Txn) => (if (eqb_Txn x0 t) then ((certified st x1) && ((place st x1) <? (snap st t))) else (certifier_snap st x0 x1));
     certifier_delivered := fun (x0 : Txn) => ((certifier_delivered st x0) || (eqb_Txn x0 t));
     certifier_certified := certifier_certified st;
     certifier_before := fun (x0 : Txn) (x1 : Txn) => ((certifier_before st x0 x1) || ((certifier_delivered st x0) && (eqb_Txn x1 t)));
     certifier_stable := certifier_stable st;
     certifier_has := certifier_has st;
     certifier_writer := certifier_writer st;
     certifier_grown := certifier_grown st;
     certifier_purged := certifier_purged st;
     certifier_refuser := fun (x0 : Txn) => (if (eqb_Txn x0 t) then (certifier_writer st row) else (certifier_refuser st x0));
     certifier_refused_row := fun (x0 : Txn) => (if (eqb_Txn x0 t) then row else (certifier_refused_row st x0));
     certifier_chosen := fun (x0 : Txn) => ((certified st x0) && ((place st x0) <? (snap st t)));
     matched := (((matched st)) /\ (((negb (certifier_delivered st t)) = true) /\ (((((forall u : Txn, (forall w : Txn, ((negb ((certifier_delivered st u) || (eqb_Txn u t))) || (Bool.eqb (if (eqb_Txn u t) then ((certified st w) && ((place st w) <? (snap st t))) else (certifier_snap st u w)) (certifier_last u w))) = true))) -> ((((negb (certifier_delivered st t)) = true) /\ (((negb (certifier_last t t)) = true) /\ (((forall u : Txn, ((negb (certifier_last t u)) || (certifier_certified st u)) = true)) /\ (((forall u : Txn, (forall q : Row, ((negb ((certifier_stable st u) && ((ws t q) && (ws u q)))) || (certifier_last t u)) = true))) /\ (((ws t row) = true) /\ (((certifier_has st row) = true) /\ ((((certifier_last (certifier_writer st row) (txn_at st (version st (n st) row))) || (eqb_Txn (txn_at st (version st (n st) row)) (certifier_writer st row))) = true) /\ ((negb (certifier_last t (txn_at st (version st (n st) row)))) = true))))))))))) /\ (((negb (certifier_delivered st t)) = true) /\ (((negb (if true then ((certified st t) && ((place st t) <? (snap st t))) else (certifier_snap st t t))) = true) /\ (((forall u : Txn, ((negb (if true then ((certified st u) && ((place st u) <? (snap st t))) else (certifier_snap st t u))) || (certifier_certified st u)) = true)) /\ (((forall u : Txn, (forall q : Row, ((negb ((certifier_stable st u) && ((ws t q) && (ws u q)))) || (if true then ((certified st u) && ((place st u) <? (snap st t))) else (certifier_snap st t u))) = true))) /\ (((ws t row) = true) /\ (((certifier_has st row) = true) /\ ((((if (eqb_Txn (certifier_writer st row) t) then ((certified st (txn_at st (version st (n st) row))) && ((place st (txn_at st (version st (n st) row))) <? (snap st t))) else (certifier_snap st (certifier_writer st row) (txn_at st (version st (n st) row)))) || (eqb_Txn (txn_at st (version st (n st) row)) (certifier_writer st row))) = true) /\ ((negb (if true then ((certified st (txn_at st (version st (n st) row))) && ((place st (txn_at st (version st (n st) row))) <? (snap st t))) else (certifier_snap st t (txn_at st (version st (n st) row))))) = true)))))))))))
  |}.

(* what all members have reported is stable *)
Definition guard_settle (st : state) (level : Z) : Prop :=
  (((forall m : Member, ((negb (in_group st m)) || (level <=? (reported st m))) = true)) /\ (((level <=? (n st)) = true) /\ (((stable st) <=? level) = true))).
Definition act_settle (st : state) (level : Z) : state :=
  {|
     n := n st;
     in_group := in_group st;
     upto := upto st;
     value_ := value_ st;
     begun := begun st;
     live := live st;
     home := home st;
     saw := saw st;
     sent := sent st;
     snap := snap st;
     number := number st;
     delivered := delivered st;
     certified := certified st;
     place := place st;
     txn_at := txn_at st;
     has := has st;
     out := out st;
     arrived := arrived st;
     reports := reports st;
     report_number := report_number st;
     report_value := report_value st;
     reported := reported st;
     stable := level;
     version := version st;
     certifier_snap := certifier_snap st;
     certifier_delivered := certifier_delivered st;
     certifier_certified := certifier_certified st;
     certifier_before := certifier_before st;
     certifier_stable := fun (x0 : Txn) => ((certifier_stable st x0) || ((certified st x0) && ((place st x0) <? level)));
     certifier_has := certifier_has st;
     certifier_writer := certifier_writer st;
     certifier_grown := fun (x0 : Txn) => ((certified st x0) && ((place st x0) <? level));
     certifier_purged := certifier_purged st;
     certifier_refuser := certifier_refuser st;
     certifier_refused_row := certifier_refused_row st;
     certifier_chosen := certifier_chosen st;
     matched := (((matched st)) /\ (((((forall u : Txn, (forall w : Txn, ((negb (certifier_delivered st u)) || (Bool.eqb (certifier_snap st u w) (certifier_last u w))) = true))) -> ((forall t : Txn, ((negb ((certified st t) && ((place st t) <? level))) || (certifier_certified st t)) = true)))) /\ ((forall t : Txn, ((negb ((certified st t) && ((place st t) <? level))) || (certifier_certified st t)) = true))))
  |}.

(* an item whose version is stable is purged *)
Definition guard_collect (st : state) (row : Row) : Prop :=
  ((version st (n st) row) <? (stable st)) = true.
Definition act_collect (st : state) (row : Row) : state :=
  {|
     n := n st;
     in_group := in_group st;
     upto := upto st;
     value_ := value_ st;
     begun := begun st;
     live := live st;
     home := home st;
     saw := saw st;
     sent := sent st;
     snap := snap st;
     number := number st;
     delivered := delivered st;
     certified := certified st;
     place := place st;
     txn_at := txn_at st;
     has := fun (x0 : Row) => ((has st x0) && (negb (eqb_Row x0 row)));
     out := out st;
     arrived := arrived st;
     reports := reports st;
     report_number := report_number st;
     report_value := report_value st;
     reported := reported st;
     stable := stable st;
     version := version st;
     certifier_snap := certifier_snap st;
     certifier_delivered := certifier_delivered st;
     certifier_certified := certifier_certified st;
     certifier_before := certifier_before st;
     certifier_stable := certifier_stable st;
     certifier_has := fun (x0 : Row) => ((certifier_has st x0) && (negb (eqb_Row x0 row)));
     certifier_writer := certifier_writer st;
     certifier_grown := certifier_grown st;
     certifier_purged := fun (x0 : Row) => (eqb_Row x0 row);
     certifier_refuser := certifier_refuser st;
     certifier_refused_row := certifier_refused_row st;
     certifier_chosen := certifier_chosen st;
     matched := (((matched st)) /\ (((((forall u : Txn, (forall w : Txn, ((negb (certifier_delivered st u)) || (Bool.eqb (certifier_snap st u w) (certifier_last u w))) = true))) -> ((forall r : Row, (forall u : Txn, ((negb ((eqb_Row r row) && ((certifier_has st r) && ((certifier_last (certifier_writer st r) u) || (eqb_Txn u (certifier_writer st r)))))) || (certifier_stable st u)) = true))))) /\ ((forall r : Row, (forall u : Txn, ((negb ((eqb_Row r row) && ((certifier_has st r) && ((certifier_snap st (certifier_writer st r) u) || (eqb_Txn u (certifier_writer st r)))))) || (certifier_stable st u)) = true)))))
  |}.

(* a session reads and changes its rows, and holds their locks *)
Definition guard_execute (st : state) (t : Txn) (m : Member) : Prop :=
  (((negb (begun st t)) = true) /\ (((in_group st m) = true) /\ ((forall u : Txn, (forall r : Row, (negb ((live st u) && ((eqb_Member (home st u) m) && ((ws u r) && (ws t r))))) = true))))).
Definition act_execute (st : state) (t : Txn) (m : Member) : state :=
  {|
     n := n st;
     in_group := in_group st;
     upto := upto st;
     value_ := value_ st;
     begun := fun (x0 : Txn) => ((begun st x0) || (eqb_Txn x0 t));
     live := fun (x0 : Txn) => ((live st x0) || (eqb_Txn x0 t));
     home := fun (x0 : Txn) => (if (eqb_Txn x0 t) then m else (home st x0));
     saw := fun (x0 : Txn) (x1 : Row) => (if (eqb_Txn x0 t) then (value_ st m x1) else (saw st x0 x1));
     sent := sent st;
     snap := fun (x0 : Txn) => (if (eqb_Txn x0 t) then (upto st m) else (snap st x0));
     number := number st;
     delivered := delivered st;
     certified := certified st;
     place := place st;
     txn_at := txn_at st;
     has := has st;
     out := out st;
     arrived := arrived st;
     reports := reports st;
     report_number := report_number st;
     report_value := report_value st;
     reported := reported st;
     stable := stable st;
     version := version st;
     certifier_snap := certifier_snap st;
     certifier_delivered := certifier_delivered st;
     certifier_certified := certifier_certified st;
     certifier_before := certifier_before st;
     certifier_stable := certifier_stable st;
     certifier_has := certifier_has st;
     certifier_writer := certifier_writer st;
     certifier_grown := certifier_grown st;
     certifier_purged := certifier_purged st;
     certifier_refuser := certifier_refuser st;
     certifier_refused_row := certifier_refused_row st;
     certifier_chosen := certifier_chosen st;
     matched := matched st
  |}.

(* its snapshot is of what its member has applied by now *)
Definition guard_take_snapshot (st : state) (t : Txn) : Prop :=
  ((live st t) && (negb (sent st t))) = true.
Definition act_take_snapshot (st : state) (t : Txn) : state :=
  {|
     n := n st;
     in_group := in_group st;
     upto := upto st;
     value_ := value_ st;
     begun := begun st;
     live := live st;
     home := home st;
     saw := saw st;
     sent := sent st;
     snap := fun (x0 : Txn) => (if (eqb_Txn x0 t) then (upto st (home st t)) else (snap st x0));
     number := number st;
     delivered := delivered st;
     certified := certified st;
     place := place st;
     txn_at := txn_at st;
     has := has st;
     out := out st;
     arrived := arrived st;
     reports := reports st;
     report_number := report_number st;
     report_value := report_value st;
     reported := reported st;
     stable := stable st;
     version := version st;
     certifier_snap := certifier_snap st;
     certifier_delivered := certifier_delivered st;
     certifier_certified := certifier_certified st;
     certifier_before := certifier_before st;
     certifier_stable := certifier_stable st;
     certifier_has := certifier_has st;
     certifier_writer := certifier_writer st;
     certifier_grown := certifier_grown st;
     certifier_purged := certifier_purged st;
     certifier_refuser := certifier_refuser st;
     certifier_refused_row := certifier_refused_row st;
     certifier_chosen := certifier_chosen st;
     matched := matched st
  |}.

(* it commits: write set and snapshot go to the group *)
Definition guard_send (st : state) (t : Txn) : Prop :=
  ((live st t) && (negb (sent st t))) = true.
Definition act_send (st : state) (t : Txn) : state :=
  {|
     n := n st;
     in_group := in_group st;
     upto := upto st;
     value_ := value_ st;
     begun := begun st;
     live := live st;
     home := home st;
     saw := saw st;
     sent := fun (x0 : Txn) => ((sent st x0) || (eqb_Txn x0 t));
     snap := snap st;
     number := fun (x0 : Txn) => (if (eqb_Txn x0 t) then (out st (home st t)) else (number st x0));
     delivered := delivered st;
     certified := certified st;
     place := place st;
     txn_at := txn_at st;
     has := has st;
     out := fun (x0 : Member) => (if (eqb_Member x0 (home st t)) then ((out st x0) + 1) else (out st x0));
     arrived := arrived st;
     reports := reports st;
     report_number := report_number st;
     report_value := report_value st;
     reported := reported st;
     stable := stable st;
     version := version st;
     certifier_snap := certifier_snap st;
     certifier_delivered := certifier_delivered st;
     certifier_certified := certifier_certified st;
     certifier_before := certifier_before st;
     certifier_stable := certifier_stable st;
     certifier_has := certifier_has st;
     certifier_writer := certifier_writer st;
     certifier_grown := certifier_grown st;
     certifier_purged := certifier_purged st;
     certifier_refuser := certifier_refuser st;
     certifier_refused_row := certifier_refused_row st;
     certifier_chosen := certifier_chosen st;
     matched := matched st
  |}.

(* the client, or a worker that wants one of its rows, ends the session *)
Definition guard_roll_back (st : state) (t : Txn) : Prop :=
  ((live st t) && (negb (delivered st t))) = true.
Definition act_roll_back (st : state) (t : Txn) : state :=
  {|
     n := n st;
     in_group := in_group st;
     upto := upto st;
     value_ := value_ st;
     begun := begun st;
     live := fun (x0 : Txn) => ((live st x0) && (negb (eqb_Txn x0 t)));
     home := home st;
     saw := saw st;
     sent := sent st;
     snap := snap st;
     number := number st;
     delivered := delivered st;
     certified := certified st;
     place := place st;
     txn_at := txn_at st;
     has := has st;
     out := out st;
     arrived := arrived st;
     reports := reports st;
     report_number := report_number st;
     report_value := report_value st;
     reported := reported st;
     stable := stable st;
     version := version st;
     certifier_snap := certifier_snap st;
     certifier_delivered := certifier_delivered st;
     certifier_certified := certifier_certified st;
     certifier_before := certifier_before st;
     certifier_stable := certifier_stable st;
     certifier_has := certifier_has st;
     certifier_writer := certifier_writer st;
     certifier_grown := certifier_grown st;
     certifier_purged := certifier_purged st;
     certifier_refuser := certifier_refuser st;
     certifier_refused_row := certifier_refused_row st;
     certifier_chosen := certifier_chosen st;
     matched := matched st
  |}.

(* a member sends what it has applied *)
Definition guard_report (st : state) (m : Member) : Prop :=
  ((in_group st m) && (negb (reports st m))) = true.
Definition act_report (st : state) (m : Member) : state :=
  {|
     n := n st;
     in_group := in_group st;
     upto := upto st;
     value_ := value_ st;
     begun := begun st;
     live := live st;
     home := home st;
     saw := saw st;
     sent := sent st;
     snap := snap st;
     number := number st;
     delivered := delivered st;
     certified := certified st;
     place := place st;
     txn_at := txn_at st;
     has := has st;
     out := fun (x0 : Member) => (if (eqb_Member x0 m) then ((out st x0) + 1) else (out st x0));
     arrived := arrived st;
     reports := fun (x0 : Member) => ((reports st x0) || (eqb_Member x0 m));
     report_number := fun (x0 : Member) => (if (eqb_Member x0 m) then (out st m) else (report_number st x0));
     report_value := fun (x0 : Member) => (if (eqb_Member x0 m) then (upto st m) else (report_value st x0));
     reported := reported st;
     stable := stable st;
     version := version st;
     certifier_snap := certifier_snap st;
     certifier_delivered := certifier_delivered st;
     certifier_certified := certifier_certified st;
     certifier_before := certifier_before st;
     certifier_stable := certifier_stable st;
     certifier_has := certifier_has st;
     certifier_writer := certifier_writer st;
     certifier_grown := certifier_grown st;
     certifier_purged := certifier_purged st;
     certifier_refuser := certifier_refuser st;
     certifier_refused_row := certifier_refused_row st;
     certifier_chosen := certifier_chosen st;
     matched := matched st
  |}.

(* the report is delivered in its place of the order *)
Definition guard_receive_report (st : state) (m : Member) : Prop :=
  ((reports st m) && ((in_group st m) && (Z.eqb (arrived st m) (report_number st m)))) = true.
Definition act_receive_report (st : state) (m : Member) : state :=
  {|
     n := n st;
     in_group := in_group st;
     upto := upto st;
     value_ := value_ st;
     begun := begun st;
     live := live st;
     home := home st;
     saw := saw st;
     sent := sent st;
     snap := snap st;
     number := number st;
     delivered := delivered st;
     certified := certified st;
     place := place st;
     txn_at := txn_at st;
     has := has st;
     out := out st;
     arrived := fun (x0 : Member) => (if ((eqb_Member x0 m) && (Z.eqb (arrived st m) (report_number st m))) then ((arrived st x0) + 1) else (arrived st x0));
     reports := fun (x0 : Member) => ((reports st x0) && (negb (eqb_Member x0 m)));
     report_number := report_number st;
     report_value := report_value st;
     reported := fun (x0 : Member) => (if (eqb_Member x0 m) then (report_value st x0) else (reported st x0));
     stable := stable st;
     version := version st;
     certifier_snap := certifier_snap st;
     certifier_delivered := certifier_delivered st;
     certifier_certified := certifier_certified st;
     certifier_before := certifier_before st;
     certifier_stable := certifier_stable st;
     certifier_has := certifier_has st;
     certifier_writer := certifier_writer st;
     certifier_grown := certifier_grown st;
     certifier_purged := certifier_purged st;
     certifier_refuser := certifier_refuser st;
     certifier_refused_row := certifier_refused_row st;
     certifier_chosen := certifier_chosen st;
     matched := matched st
  |}.

(* the next position commits in the engine, and its session, if any, ends *)
Definition guard_apply (st : state) (m : Member) : Prop :=
  (((in_group st m) = true) /\ ((((upto st m) <? (n st)) = true) /\ ((forall t : Txn, (forall r : Row, (negb ((live st t) && ((eqb_Member (home st t) m) && ((negb (delivered st t)) && ((ws t r) && ((certified st (txn_at st (upto st m))) && (ws (txn_at st (upto st m)) r))))))) = true))))).
Definition act_apply (st : state) (m : Member) : state :=
  {|
     n := n st;
     in_group := in_group st;
     upto := fun (x0 : Member) => (if (eqb_Member x0 m) then ((upto st m) + 1) else (upto st x0));
     value_ := fun (x0 : Member) (x1 : Row) => (if ((eqb_Member x0 m) && ((certified st (txn_at st (upto st m))) && (ws (txn_at st (upto st m)) x1))) then (upto st m) else (value_ st x0 x1));
     begun := begun st;
     live := fun (x0 : Txn) => ((live st x0) && (negb ((eqb_Txn x0 (txn_at st (upto st m))) && (eqb_Member (home st x0) m))));
     home := home st;
     saw := saw st;
     sent := sent st;
     snap := snap st;
     number := number st;
     delivered := delivered st;
     certified := certified st;
     place := place st;
     txn_at := txn_at st;
     has := has st;
     out := out st;
     arrived := arrived st;
     reports := reports st;
     report_number := report_number st;
     report_value := report_value st;
     reported := reported st;
     stable := stable st;
     version := version st;
     certifier_snap := certifier_snap st;
     certifier_delivered := certifier_delivered st;
     certifier_certified := certifier_certified st;
     certifier_before := certifier_before st;
     certifier_stable := certifier_stable st;
     certifier_has := certifier_has st;
     certifier_writer := certifier_writer st;
     certifier_grown := certifier_grown st;
     certifier_purged := certifier_purged st;
     certifier_refuser := certifier_refuser st;
     certifier_refused_row := certifier_refused_row st;
     certifier_chosen := certifier_chosen st;
     matched := matched st
  |}.

(* a member crashes or is expelled, and a view change says so *)
Definition guard_crash (st : state) (m : Member) : Prop :=
  (in_group st m) = true.
Definition act_crash (st : state) (m : Member) : state :=
  {|
     n := n st;
     in_group := fun (x0 : Member) => ((in_group st x0) && (negb (eqb_Member x0 m)));
     upto := upto st;
     value_ := value_ st;
     begun := begun st;
     live := fun (x0 : Txn) => ((live st x0) && (negb (eqb_Member (home st x0) m)));
     home := home st;
     saw := saw st;
     sent := sent st;
     snap := snap st;
     number := number st;
     delivered := delivered st;
     certified := certified st;
     place := place st;
     txn_at := txn_at st;
     has := has st;
     out := out st;
     arrived := arrived st;
     reports := fun (x0 : Member) => ((reports st x0) && (negb (eqb_Member x0 m)));
     report_number := report_number st;
     report_value := report_value st;
     reported := reported st;
     stable := stable st;
     version := version st;
     certifier_snap := certifier_snap st;
     certifier_delivered := certifier_delivered st;
     certifier_certified := certifier_certified st;
     certifier_before := certifier_before st;
     certifier_stable := certifier_stable st;
     certifier_has := certifier_has st;
     certifier_writer := certifier_writer st;
     certifier_grown := certifier_grown st;
     certifier_purged := certifier_purged st;
     certifier_refuser := certifier_refuser st;
     certifier_refused_row := certifier_refused_row st;
     certifier_chosen := certifier_chosen st;
     matched := matched st
  |}.

(* a member comes, or comes back, with its donor's state, and a view change says so *)
Definition guard_join (st : state) (m : Member) (donor : Member) : Prop :=
  ((negb (in_group st m)) && (in_group st donor)) = true.
Definition act_join (st : state) (m : Member) (donor : Member) : state :=
  {|
     n := n st;
     in_group := fun (x0 : Member) => ((in_group st x0) || (eqb_Member x0 m));
     upto := fun (x0 : Member) => (if (eqb_Member x0 m) then (upto st donor) else (upto st x0));
     value_ := fun (x0 : Member) (x1 : Row) => (if (eqb_Member x0 m) then (value_ st donor x1) else (value_ st x0 x1));
     begun := begun st;
     live := live st;
     home := home st;
     saw := saw st;
     sent := sent st;
     snap := snap st;
     number := number st;
     delivered := delivered st;
     certified := certified st;
     place := place st;
     txn_at := txn_at st;
     has := has st;
     out := out st;
     arrived := fun (x0 : Member) => (if (eqb_Member x0 m) then (out st m) else (arrived st x0));
     reports := reports st;
     report_number := report_number st;
     report_value := report_value st;
     reported := fun (x0 : Member) => (if (eqb_Member x0 m) then (reported st donor) else (reported st x0));
     stable := stable st;
     version := version st;
     certifier_snap := certifier_snap st;
     certifier_delivered := certifier_delivered st;
     certifier_certified := certifier_certified st;
     certifier_before := certifier_before st;
     certifier_stable := certifier_stable st;
     certifier_has := certifier_has st;
     certifier_writer := certifier_writer st;
     certifier_grown := certifier_grown st;
     certifier_purged := certifier_purged st;
     certifier_refuser := certifier_refuser st;
     certifier_refused_row := certifier_refused_row st;
     certifier_chosen := certifier_chosen st;
     matched := matched st
  |}.

Inductive step (st : state) : state -> Prop :=
| step_certify : forall (t : Txn), guard_certify st t ->
    step st (act_certify st t)
| step_refuse : forall (t : Txn) (row : Row), guard_refuse st t row ->
    step st (act_refuse st t row)
| step_settle : forall (level : Z), guard_settle st level ->
    step st (act_settle st level)
| step_collect : forall (row : Row), guard_collect st row ->
    step st (act_collect st row)
| step_execute : forall (t : Txn) (m : Member), guard_execute st t m ->
    step st (act_execute st t m)
| step_take_snapshot : forall (t : Txn), guard_take_snapshot st t ->
    step st (act_take_snapshot st t)
| step_send : forall (t : Txn), guard_send st t ->
    step st (act_send st t)
| step_roll_back : forall (t : Txn), guard_roll_back st t ->
    step st (act_roll_back st t)
| step_report : forall (m : Member), guard_report st m ->
    step st (act_report st m)
| step_receive_report : forall (m : Member), guard_receive_report st m ->
    step st (act_receive_report st m)
| step_apply : forall (m : Member), guard_apply st m ->
    step st (act_apply st m)
| step_crash : forall (m : Member), guard_crash st m ->
    step st (act_crash st m)
| step_join : forall (m : Member) (donor : Member), guard_join st m donor ->
    step st (act_join st m donor).

(* whenever the leading model takes a step, the other can take the steps of its own *)
Definition inv_every_step_is_matched (st : state) : Prop :=
  (matched st).

(* both deliver and certify the same *)
Definition inv_decisions_agree (st : state) : Prop :=
  (forall t : Txn, ((Bool.eqb (certifier_delivered st t) (delivered st t)) && (Bool.eqb (certifier_certified st t) (certified st t))) = true).

(* the order is that of positions *)
Definition inv_order_agrees (st : state) : Prop :=
  (forall t : Txn, (forall u : Txn, (Bool.eqb (certifier_before st t u) ((delivered st t) && ((delivered st u) && ((place st t) <? (place st u))))) = true)).

(* a snapshot has what was certified at its positions *)
Definition inv_snapshots_agree (st : state) : Prop :=
  (forall t : Txn, (forall u : Txn, (Bool.eqb (certifier_snap st t u) ((delivered st t) && ((certified st u) && ((place st u) <? (snap st t))))) = true)).

(* stable is what was certified at stable positions *)
Definition inv_stable_agrees (st : state) : Prop :=
  (forall t : Txn, (Bool.eqb (certifier_stable st t) ((certified st t) && ((place st t) <? (stable st)))) = true).

(* an item names the last certified writer *)
Definition inv_items_agree (st : state) : Prop :=
  (forall r : Row, ((Bool.eqb (certifier_has st r) (has st r)) && ((negb (has st r)) || ((0 <=? (version st (n st) r)) && (eqb_Txn (certifier_writer st r) (txn_at st (version st (n st) r)))))) = true).

(* each delivered transaction is at its position *)
Definition inv_places_are_found (st : state) : Prop :=
  (forall t : Txn, ((negb (delivered st t)) || (eqb_Txn (txn_at st (place st t)) t)) = true).

(* and each position has one transaction *)
Definition inv_positions_are_places (st : state) : Prop :=
  (forall p : Z, ((negb ((0 <=? p) && (p <? (n st)))) || (Z.eqb (place st (txn_at st p)) p)) = true).

(* while its rows are locked, no writer of them is applied after a session's snapshot *)
Definition inv_snapshots_have_applied_writers (st : state) : Prop :=
  (forall t : Txn, (forall p : Z, (forall r : Row, ((negb ((live st t) && ((negb (sent st t)) && ((certified st (txn_at st p)) && ((ws (txn_at st p) r) && ((ws t r) && (p <? (upto st (home st t))))))))) || (p <? (snap st t))) = true))).

(* what is in flight was sent after the last report of its member *)
Definition inv_snapshots_have_reported_writers (st : state) : Prop :=
  (forall t : Txn, (forall p : Z, (forall r : Row, ((negb ((sent st t) && ((negb (delivered st t)) && (((arrived st (home st t)) <=? (number st t)) && ((in_group st (home st t)) && ((certified st (txn_at st p)) && ((ws (txn_at st p) r) && ((ws t r) && (p <? (reported st (home st t))))))))))) || (p <? (snap st t))) = true))).

(* and after a report that is in flight before it *)
Definition inv_snapshots_have_writers_reported_before (st : state) : Prop :=
  (forall t : Txn, (forall p : Z, (forall r : Row, ((negb ((sent st t) && ((negb (delivered st t)) && (((arrived st (home st t)) <=? (number st t)) && ((in_group st (home st t)) && ((certified st (txn_at st p)) && ((ws (txn_at st p) r) && ((ws t r) && ((reports st (home st t)) && (((report_number st (home st t)) <? (number st t)) && (p <? (report_value st (home st t))))))))))))) || (p <? (snap st t))) = true))).

(* nobody reports what it did not apply, and later reports are higher *)
Definition inv_reports_rise (st : state) : Prop :=
  (forall m : Member, ((negb (in_group st m)) || (((stable st) <=? (reported st m)) && (((reported st m) <=? (upto st m)) && ((negb (reports st m)) || (((reported st m) <=? (report_value st m)) && ((report_value st m) <=? (upto st m))))))) = true).

(* a report is delivered after it is sent *)
Definition inv_reports_are_in_flight (st : state) : Prop :=
  (forall m : Member, ((negb (reports st m)) || ((in_group st m) && (((arrived st m) <=? (report_number st m)) && ((report_number st m) <? (out st m))))) = true).

(* a member numbers what it sends *)
Definition inv_numbers_were_given (st : state) : Prop :=
  (forall t : Txn, ((negb (sent st t)) || ((number st t) <? (out st (home st t)))) = true).

(* no two messages of a member have one number *)
Definition inv_numbers_differ_from_reports (st : state) : Prop :=
  (forall t : Txn, ((negb ((sent st t) && (reports st (home st t)))) || (negb (Z.eqb (number st t) (report_number st (home st t))))) = true).

(* nothing is delivered that was not sent *)
Definition inv_arrivals_were_sent (st : state) : Prop :=
  (forall m : Member, ((arrived st m) <=? (out st m)) = true).

(* nobody applies what was not delivered *)
Definition inv_members_are_in_the_order (st : state) : Prop :=
  (forall m : Member, ((0 <=? (upto st m)) && ((upto st m) <=? (n st))) = true).

(* a snapshot is what a member had applied *)
Definition inv_snapshots_are_prefixes (st : state) : Prop :=
  (forall t : Txn, ((negb (begun st t)) || ((0 <=? (snap st t)) && (((snap st t) <=? (n st)) && ((negb (delivered st t)) || ((snap st t) <=? (place st t)))))) = true).

(* a transaction is executed, sent, delivered, certified, in this order *)
Definition inv_places_are_positions (st : state) : Prop :=
  (forall t : Txn, (((negb (delivered st t)) || ((sent st t) && ((0 <=? (place st t)) && ((place st t) <? (n st))))) && (((negb (certified st t)) || (delivered st t)) && (((negb (sent st t)) || (begun st t)) && ((negb (live st t)) || ((begun st t) && (in_group st (home st t))))))) = true).

(* a version was written before *)
Definition inv_versions_are_earlier (st : state) : Prop :=
  (forall p : Z, (forall r : Row, ((negb ((0 <=? p) && (p <=? (n st)))) || (((-1) <=? (version st p r)) && ((version st p r) <? p))) = true)).

(* a version is a certified writer, or none *)
Definition inv_versions_are_certified_writers (st : state) : Prop :=
  (forall p : Z, (forall r : Row, ((negb ((0 <=? p) && ((p <=? (n st)) && (0 <=? (version st p r))))) || ((certified st (txn_at st (version st p r))) && (ws (txn_at st (version st p r)) r))) = true)).

(* each position is of a delivered transaction *)
Definition inv_positions_are_of_delivered (st : state) : Prop :=
  (forall p : Z, ((negb ((0 <=? p) && (p <? (n st)))) || (delivered st (txn_at st p))) = true).

(* the safety statement itself is inductive *)
Definition inv_certifier_later_writers_saw_earlier_ones (st : state) : Prop :=
  (forall t : Txn, (forall u : Txn, (forall r : Row, ((negb ((certifier_certified st t) && ((certifier_certified st u) && ((certifier_before st t u) && ((ws t r) && (ws u r)))))) || (certifier_snap st u t)) = true))).

(* a certified writer, or a later one, is in the row's item, unless it is stable *)
Definition inv_certifier_writer_is_remembered (st : state) : Prop :=
  (forall t : Txn, (forall r : Row, ((negb ((certifier_certified st t) && (ws t r))) || (((certifier_has st r) && ((certifier_certified st (certifier_writer st r)) && ((ws (certifier_writer st r) r) && ((eqb_Txn (certifier_writer st r) t) || (certifier_before st t (certifier_writer st r)))))) || (certifier_stable st t))) = true)).

(* each refused transaction shares a row with a certified transaction it had not seen *)
Definition inv_certifier_refusals_are_deserved (st : state) : Prop :=
  (forall t : Txn, ((negb ((certifier_delivered st t) && (negb (certifier_certified st t)))) || ((certifier_certified st (certifier_refuser st t)) && ((certifier_before st (certifier_refuser st t) t) && ((negb (certifier_snap st t (certifier_refuser st t))) && ((ws t (certifier_refused_row st t)) && (ws (certifier_refuser st t) (certifier_refused_row st t))))))) = true).

(* whenever the leading model takes a step, the other can take the steps of its own *)
Definition safe_every_step_is_matched (st : state) : Prop :=
  (matched st).

(* each refused transaction of the group shares a row with one certified before it, which is not in its snapshot *)
Definition safe_refusals_are_deserved (st : state) : Prop :=
  (forall t : Txn, ((negb ((delivered st t) && (negb (certified st t)))) || ((certified st (certifier_refuser st t)) && (((place st (certifier_refuser st t)) <? (place st t)) && (((snap st t) <=? (place st (certifier_refuser st t))) && ((ws t (certifier_refused_row st t)) && (ws (certifier_refuser st t) (certifier_refused_row st t))))))) = true).

(* of two certified writers of one row, the later one's snapshot has the earlier one *)
Definition safe_first_certified_wins (st : state) : Prop :=
  (forall t : Txn, (forall u : Txn, (forall r : Row, ((negb ((certified st t) && ((certified st u) && (((place st t) <? (place st u)) && ((ws t r) && (ws u r)))))) || ((place st t) <? (snap st u))) = true))).

(* A4: what a transaction in a snapshot saw is in the snapshot *)
Definition safe_snapshots_are_closed (st : state) : Prop :=
  (forall t : Txn, (forall u : Txn, (forall w : Txn, ((negb ((certifier_snap st t u) && (certifier_snap st u w))) || (certifier_snap st t w)) = true))).

